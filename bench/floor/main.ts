/**
 * The speed of light on this machine, to read other figures as shares of it (bench/README.md):
 *
 *   pnpm bench floor [--seconds 15] [--warm-up 10] [--streams 200] [--connections 2] [--segments 32] [--no-record]
 *
 * For tiny and real builds: the generator against a server that acknowledges at once; then the same events by COPY
 * into a bare table, `--segments` in each commit.
 */
import { parseArgs } from "node:util";
import { systemClock } from "@millrace/base/clock";
import { commit, machine } from "../scenario/provenance.ts";
import { appendResult } from "../scenario/result-file.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import type { FloorLine, FloorOrigin } from "./floor-line.ts";
import { measureAcks } from "./measure-acks.ts";
import { measureCopy } from "./measure-copy.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "15" },
    "warm-up": { type: "string", default: "10" },
    streams: { type: "string", default: "200" },
    connections: { type: "string", default: "2" },
    segments: { type: "string", default: "32" },
    "no-record": { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const warmUpSeconds = Number(values["warm-up"]);

function record(line: FloorLine): void {
  if (!values["no-record"]) appendResult(line, "floor");
  console.log(JSON.stringify(line));
}

function originOf(
  scenario: string,
  of: Pick<FloorOrigin, "workload" | "plan"> & { postgres: string },
): FloorOrigin {
  const { workload, plan, postgres } = of;
  const date = new Date(systemClock.now()).toISOString();
  const versions = { node: process.version, postgres, nats: "" };
  return { scenario, commit: commit(), date, machine: machine(), versions, workload, plan };
}

for (const name of ["tiny", "real"] as const) {
  const load = { streams: Number(values.streams), seconds, warmUpSeconds };
  const acks = await measureAcks({ workload: name, ...load });
  const workload = { name, hash: acks.workloadHash };
  const ackOrigin = originOf(`floor-ack-${name}`, { workload, plan: load, postgres: "" });
  record({ ...ackOrigin, ...acks.figures });

  const plan = {
    ...{ seconds, warmUpSeconds },
    connections: Number(values.connections),
    segmentsPerGroup: Number(values.segments),
  };
  const copy = await measureCopy(workloadNamed(name), plan);
  const copyOrigin = originOf(`floor-copy-${name}`, { workload, plan, postgres: copy.postgres });
  record({ ...copyOrigin, ...copy.figures });
}
process.exit(0);
