import type { BatchContent } from "@millrace/actors/core/effects";
import { compressParts } from "@millrace/actors/host/sealer";
import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openLane } from "@millrace/db/lane";
import { defaultProject } from "@millrace/db/migrate";
import { batchChannel } from "@millrace/proto/channels";
import type { IBatchRequest } from "@millrace/proto/pipeline";
import { commitGroup } from "@millrace/writer/commit-group";
import { Flow, InboxItem } from "@millrace/writer/inbox-flow";
import { noMetrics } from "@millrace/writer/metrics";
import { pgCommitStore } from "@millrace/writer/statements/pg-commit-store";
import type { Task } from "@millrace/writer/verdict";
import { flowOf, identityOf, readBatchRequest, sizeOf } from "@millrace/writer/work";
import { usageOf } from "../scenario/process-usage.ts";
import { batchesOf } from "./actor-stages.ts";
import type { BuildInput } from "./build-input.ts";
import { cpuPerEvent, figureOf, type StageFigure, warmUpRounds } from "./cpu-per-event.ts";

/** Builds whose batches are committed together: what a writer of a busy server takes. */
const buildsPerGroup = 32;

interface Made {
  readonly build: BuildInput;
  readonly batches: readonly BatchContent[];
}

/** Sealing, and the way of a batch to the writer. */
export async function wireStages(builds: readonly BuildInput[], rounds: number): Promise<StageFigure[]> {
  const made = builds.map((build) => ({ build, batches: batchesOf(build) }));
  const messages = (await Promise.all(made.map((one) => requestsOf(one, 0)))).flat();
  const encoded = messages.map(batchChannel.request.encode);
  const of = { events: eventsOf(messages), rounds };
  return [
    await cpuPerEvent("compress", { ...of, run: () => Promise.all(made.map((one) => requestsOf(one, 0))) }),
    await cpuPerEvent("encode the batch", { ...of, run: () => messages.map(batchChannel.request.encode) }),
    await cpuPerEvent("decode the batch", { ...of, run: () => encoded.map(batchChannel.request.decode) }),
  ];
}

/** The first batch of every build, committed in groups to a PostgreSQL with all its durability. */
export async function commitStages(
  builds: readonly BuildInput[],
  of: { rounds: number; postgres: { url: string; pid: number } },
): Promise<StageFigure[]> {
  const { rounds, postgres } = of;
  const lane = openLane({ url: postgres.url, name: "bench", prepare: true });
  const context = {
    ...{ store: pgCommitStore(lane, noFailPoints), clock: systemClock, random: systemRandom },
    ...{ resumeWithHole: false, points: noFailPoints, metrics: noMetrics },
  };
  // Other invocations in each round: none is stored twice.
  const groups = await Promise.all(
    Array.from({ length: rounds + warmUpRounds }, (_, round) => groupsOf(builds, round)),
  );
  const events = eventsOf((groups[0] ?? []).flat());
  const postgresMicros: number[] = [];
  const commit = async (round: number): Promise<void> => {
    const before = cpuMicrosOf(postgres.pid);
    for (const group of groups[round] ?? []) await commitGroup(group.map(taskOf), context);
    postgresMicros.push((cpuMicrosOf(postgres.pid) - before) / events);
  };
  const writer = await cpuPerEvent("fence, rows, segments, COMMIT (writer)", { events, rounds, run: commit });
  await lane.close();
  return [writer, figureOf("the same in PostgreSQL", postgresMicros.slice(warmUpRounds))];
}

function groupsOf(builds: readonly BuildInput[], round: number): Promise<IBatchRequest[][]> {
  const groups: BuildInput[][] = [];
  for (let at = 0; at < builds.length; at += buildsPerGroup)
    groups.push(builds.slice(at, at + buildsPerGroup));
  const firstOf = async (build: BuildInput): Promise<IBatchRequest[]> =>
    (await requestsOf({ build, batches: batchesOf(build).slice(0, 1) }, round)).slice(0, 1);
  return Promise.all(groups.map(async (group) => (await Promise.all(group.map(firstOf))).flat()));
}

async function requestsOf({ build, batches }: Made, round: number): Promise<IBatchRequest[]> {
  const zstd = await loadZstd();
  const invocationId = `${build.invocationId}-${round}`;
  const key = { project: defaultProject, invocationId };
  const owner = Buffer.from(invocationId.slice(-16));
  return Promise.all(
    batches.map(async (batch): Promise<IBatchRequest> => {
      const { first, last, carry, rows, endsStream, undecoded } = batch;
      const events = await compressParts(zstd, batch.events, batch.eventBytes);
      const log = await compressParts(zstd, batch.log, batch.logBytes);
      const open = { key, owner, firstSequence: 1, buildId: invocationId, node: "bench" };
      const place = {
        firstByte: batch.logFirstByte,
        firstLine: batch.logFirstLine,
        lineCount: batch.logLines,
      };
      return {
        ...{ key, owner, attemptId: 0, carry, rows, endsStream, undecoded, events },
        firstSequence: first,
        lastSequence: last,
        ...(batch.logBytes > 0 && { log: { ...place, data: log.data, byteCount: log.rawBytes } }),
        ...(batch.opens && { open }),
      };
    }),
  );
}

function taskOf(message: IBatchRequest): Task {
  const work = readBatchRequest(message);
  const { project, flow } = flowOf(work);
  const held = {
    work,
    identity: identityOf(work),
    bytes: sizeOf(work),
    flow: new Flow(project, flow),
    askedAt: 0,
  };
  const item = new InboxItem(held, () => {});
  item.ask(0, (reply) => {
    if (!("committed" in reply)) throw new Error(`a batch was not committed: ${JSON.stringify(reply)}`);
  });
  return { item };
}

function eventsOf(messages: readonly IBatchRequest[]): number {
  return messages.reduce((sum, one) => sum + (one.lastSequence ?? 0) - (one.firstSequence ?? 0) + 1, 0);
}

function cpuMicrosOf(pid: number): number {
  return usageOf({ postgres: pid })["postgres"]?.cpuMicros ?? 0;
}
