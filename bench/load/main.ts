import { parseArgs } from "node:util";
import { getRun, readInvocations } from "@millrace/test/model/corpus";
import { runLoad } from "./run-load.ts";

// Usage: node bench/load/main.ts --address 127.0.0.1:1985 --streams 200 --seconds 10 [--gap-ms 500] [--run bazel4-test-ok]
const { values } = parseArgs({
  options: {
    address: { type: "string", default: "127.0.0.1:1985" },
    streams: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    "gap-ms": { type: "string", default: "0" },
    run: { type: "string", default: "bazel4-test-ok" },
  },
});

const [recording] = readInvocations(getRun(values.run));
if (recording === undefined) throw new Error(`${values.run} has no stream`);
const result = await runLoad({
  address: values.address,
  streams: Number(values.streams),
  durationMs: Number(values.seconds) * 1_000,
  gapMs: Number(values["gap-ms"]),
  recording,
});
console.log(JSON.stringify({ ...values, ...result }));
