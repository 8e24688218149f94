/**
 * What each stage of an event's way costs by itself, in microseconds of CPU per event:
 *
 *   pnpm bench isolated [--workload real] [--builds 64] [--rounds 15] [--no-record]
 *
 * The front door's own stages, sockets and threads included: `node bench/isolated/front-door.ts`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "@millrace/base/clock";
import { startEmbeddedPostgres } from "@millrace/cli/services/embedded-postgres";
import { migrate } from "@millrace/db/migrate";
import { commit, machine } from "../scenario/provenance.ts";
import { appendResult } from "../scenario/result-file.ts";
import type { WorkloadName } from "../workloads/workload.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import { actorStages } from "./actor-stages.ts";
import { buildInputs } from "./build-input.ts";
import type { StageFigure } from "./cpu-per-event.ts";
import { commitStages, wireStages } from "./writer-stages.ts";

const { values } = parseArgs({
  options: {
    workload: { type: "string", default: "real" },
    builds: { type: "string", default: "64" },
    rounds: { type: "string", default: "15" },
    "no-record": { type: "boolean", default: false },
  },
});
const workload = workloadNamed(values.workload as WorkloadName);
const builds = buildInputs(workload, Number(values.builds));
const rounds = Number(values.rounds);

const directory = await mkdtemp(path.join(tmpdir(), "millrace-isolated-"));
const server = await startEmbeddedPostgres({
  dataDir: directory,
  port: 0,
  onLine: () => {},
  ephemeral: true,
});
try {
  await migrate(server.socketUrl);
  const stages: StageFigure[] = [
    ...(await actorStages(builds, rounds)),
    ...(await wireStages(builds, rounds)),
    ...(await commitStages(builds, { rounds, postgres: { url: server.socketUrl, pid: server.pid } })),
  ];
  for (const { stage, cpuMicrosPerEvent, range } of stages) {
    console.log(`${stage.padEnd(44)} ${cpuMicrosPerEvent.toFixed(2).padStart(8)}   ${range.join(" to ")}`);
  }
  const line = {
    ...{ scenario: "isolated", commit: commit(), date: new Date(systemClock.now()).toISOString() },
    ...{ machine: machine(), workload: { name: workload.name, hash: workload.hash }, stages },
  };
  if (!values["no-record"]) appendResult(line);
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(0);
