import { parseArgs } from "node:util";
import { checkRun } from "./check-run.ts";

// Usage: node bench/oracle/main.ts --log FILE… --database-url URL [--blob-dir DIR] [--sample N]
const { values } = parseArgs({
  options: {
    log: { type: "string", multiple: true, default: [] },
    "database-url": { type: "string", default: "" },
    "blob-dir": { type: "string" },
    sample: { type: "string" },
  },
});

const sample = values.sample === undefined ? undefined : Number(values.sample);
const sampleMakesSense = sample === undefined || (Number.isInteger(sample) && sample >= 0);
if (values.log.length === 0 || values["database-url"] === "" || !sampleMakesSense) {
  console.error(
    "usage: node bench/oracle/main.ts --log FILE… --database-url URL [--blob-dir DIR] [--sample N]",
  );
  process.exit(2);
}
const verdict = await checkRun({
  logs: values.log,
  databaseUrl: values["database-url"],
  ...(values["blob-dir"] === undefined ? {} : { blobDir: values["blob-dir"] }),
  ...(sample === undefined ? {} : { sample }),
});
console.log(JSON.stringify(verdict));
process.exitCode = verdict.verdict === "clean" ? 0 : 1;
