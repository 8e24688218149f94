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

if (values.log.length === 0 || values["database-url"] === "") {
  console.error(
    "usage: node bench/oracle/main.ts --log FILE… --database-url URL [--blob-dir DIR] [--sample N]",
  );
  process.exit(2);
}
const verdict = await checkRun({
  logs: values.log,
  databaseUrl: values["database-url"],
  ...(values["blob-dir"] === undefined ? {} : { blobDir: values["blob-dir"] }),
  ...(values.sample === undefined ? {} : { sample: Number(values.sample) }),
});
console.log(JSON.stringify(verdict));
process.exitCode = verdict.verdict === "clean" ? 0 : 1;
