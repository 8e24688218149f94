import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { RunLogWriter } from "../../bench/load/run-log.ts";
import { eventsOfBuild } from "../../bench/oracle/sent-events.ts";
import type { Workload } from "../../bench/workloads/workload.ts";
import { startLocalPipeline } from "../pipeline/local-pipeline.ts";

/** A build that is stored and logged as a generator would. */
export interface LoggedUpload {
  readonly invocationId: string;
  readonly workload: Workload;
  readonly variant: number;
  /** Its connections break after these events; the last of them is the end when `dies`. */
  readonly breaksAfter?: readonly number[];
  readonly dies?: boolean;
}

/** Stores builds through the real actors and the real writer, and writes the log of their run. Answers the log's path. */
export async function storeLogged(
  uploads: readonly LoggedUpload[],
  at: { databaseUrl: string; directory: string },
): Promise<string> {
  const file = path.join(at.directory, "run.log");
  const log = new RunLogWriter(file, systemClock);
  const pipeline = await startLocalPipeline(at.databaseUrl);
  for (const [
    index,
    { invocationId, workload, variant, breaksAfter = [], dies = false },
  ] of uploads.entries()) {
    const startMs = 1_800_000_000_000 + index * 1_000;
    const events = [...eventsOfBuild(workload.payloads(variant), startMs)];
    const buildId = `build-of-${invocationId}`;
    const logged = log.begin({
      ...{ invocationId, buildId, variant, startMs },
      workload: workload.name,
      workloadHash: workload.hash,
      events: events.length,
      exitCode: workload.exitCode(variant),
    });
    const stream = { project: "default", invocationId, buildId, events };
    let from = 1;
    for (const to of breaksAfter) {
      await pipeline.upload(stream, { from, to, breaks: true });
      logged.acked(to);
      from = to + 1;
    }
    if (dies) continue;
    await pipeline.upload(stream, { from, to: events.length, breaks: false });
    const acked = events.length;
    log.end(logged, { outcome: "done", sent: acked, acked, resent: 0, message: "" });
  }
  await pipeline.close();
  await log.close();
  return file;
}
