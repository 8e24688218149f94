import type { HostLimits } from "@millrace/actors/host/hosted-actor";
import { workOnLargeEvent } from "@millrace/actors/host/large-event-work";
import { ThreadHost } from "@millrace/actors/host/thread-host";
import { ackStride, type FromThread, largeEventBytes } from "@millrace/actors/thread-messages";
import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openLane } from "@millrace/db/lane";
import { batchChannel, openChannel, shardSubject, writerQueue } from "@millrace/proto/channels";
import { shardCount } from "@millrace/proto/tokens";
import { runGroupCommit } from "@millrace/writer/group-commit";
import { Inbox } from "@millrace/writer/inbox";
import { noMetrics } from "@millrace/writer/metrics";
import { pgCommitStore } from "@millrace/writer/statements/pg-commit-store";
import { type Reply, readBatchRequest, readOpenRequest, type Work } from "@millrace/writer/work";
import { localBus } from "./local-bus.ts";

/** An event as the front door hands it on: `google.devtools.build.v1.BuildEvent` bytes. */
export interface UploadedStream {
  readonly project: string;
  readonly invocationId: string;
  readonly buildId: string;
  readonly events: readonly Uint8Array[];
}

/** The real actors and the real group commit on a real PostgreSQL, in this process. */
export interface LocalPipeline {
  /**
   * Sends the events `from … to` (1-based) on a connection of its own. Resolves when all are acked and, if the last
   * is the stream's last, when the stream has ended OK. `breaks`: the connection is cut after the last ack.
   */
  upload(stream: UploadedStream, range?: { from: number; to: number; breaks: boolean }): Promise<void>;
  close(): Promise<void>;
}

const limits: HostLimits = {
  batchEventsMax: 500,
  batchBytesMax: 256 * 1024,
  batchDelayMs: 5,
  heldDelayMs: 20,
  inFlightBatchesMax: 4,
  inFlightBytesMax: 1 << 20,
  messageBytesMax: 8 << 20,
  outageHoldMaxMs: 60_000,
};

export async function startLocalPipeline(databaseUrl: string): Promise<LocalPipeline> {
  const bus = localBus();
  const lane = openLane({ url: databaseUrl, name: "local-pipeline" });
  const inbox = new Inbox(
    { inboxBytesMax: 64 << 20, groupBytesMax: 8 << 20, groupBatchesMax: 200 },
    systemClock,
  );
  const committing = runGroupCommit(inbox, {
    store: pgCommitStore(lane, noFailPoints),
    clock: systemClock,
    random: systemRandom,
    resumeWithHole: false,
    points: noFailPoints,
    metrics: noMetrics,
    log: silentLog,
  });
  const ask = <A extends Reply>(work: Work): Promise<A> =>
    new Promise((resolve) => {
      inbox.offer(work, (reply) => resolve(reply as A));
    });
  for (let shard = 0; shard < shardCount; shard += 1) {
    const at = (channel: { name: string }) => ({ subject: shardSubject(channel, shard), queue: writerQueue });
    bus.serve(openChannel, at(openChannel), (request) => ask(readOpenRequest(request)));
    bus.serve(batchChannel, at(batchChannel), (request) => ask(readBatchRequest(request)));
  }
  const connections = new Map<number, (message: FromThread, to: number) => void>();
  const host = await startHost(bus, (message) => dispatch(message, connections));
  let number = 0;
  return {
    upload: (stream, range) =>
      uploadOn({ host, connections, number: ++number, stream, range: range ?? wholeOf(stream) }),
    close: async () => {
      inbox.drain();
      await committing;
      await lane.close();
    },
  };
}

function wholeOf(stream: UploadedStream): { from: number; to: number; breaks: boolean } {
  return { from: 1, to: stream.events.length, breaks: false };
}

async function startHost(
  bus: ReturnType<typeof localBus>,
  post: (message: FromThread) => void,
): Promise<ThreadHost> {
  const zstd = await loadZstd();
  return new ThreadHost(
    {
      bus,
      clock: systemClock,
      random: systemRandom,
      zstd,
      blobs: { put: () => Promise.reject(new Error("nothing here is large enough to be staged")) },
      log: silentLog,
      projectLarge: (large) => workOnLargeEvent(zstd, large),
      post,
      points: noFailPoints,
      soon: (action) => setImmediate(action),
    },
    { nodeId: "local", limits },
  );
}

function dispatch(
  message: FromThread,
  connections: ReadonlyMap<number, (message: FromThread, to: number) => void>,
): void {
  if (message.kind === "acks") {
    for (let at = 0; at < message.entries.length; at += ackStride) {
      connections.get(message.entries[at] ?? 0)?.(message, message.entries[at + 1] ?? 0);
    }
  } else if (message.kind === "end") connections.get(message.connection)?.(message, 0);
}

/** Events of one tick, as the front door would group them. */
const eventsPerTick = 64;

function uploadOn(on: {
  host: ThreadHost;
  connections: Map<number, (message: FromThread, to: number) => void>;
  number: number;
  stream: UploadedStream;
  range: { from: number; to: number; breaks: boolean };
}): Promise<void> {
  const { host, connections, number, stream, range } = on;
  return new Promise((resolve, reject) => {
    connections.set(number, (message, to) => {
      if (message.kind === "end" && message.status !== 0) reject(new Error(message.message));
      else if (message.kind === "end") resolve();
      else if (range.breaks && to >= range.to) {
        connections.delete(number);
        host.handle({ kind: "broken", connection: number });
        resolve();
      }
    });
    host.handle({
      kind: "connected",
      connection: number,
      project: stream.project,
      invocationId: stream.invocationId,
      buildId: stream.buildId,
      firstSequence: range.from,
      serverSecret: Uint8Array.of(1),
    });
    for (let at = range.from; at <= range.to; at += eventsPerTick) {
      sendTick(host, { number, stream, from: at, to: Math.min(range.to, at + eventsPerTick - 1) });
    }
    if (!range.breaks) host.handle({ kind: "half-closed", connection: number });
  });
}

function sendTick(
  host: ThreadHost,
  tick: { number: number; stream: UploadedStream; from: number; to: number },
): void {
  const events = tick.stream.events.slice(tick.from - 1, tick.to);
  if (events.some((event) => event.length > largeEventBytes)) {
    events.forEach((bytes, index) => {
      const message = { connection: tick.number, sequence: tick.from + index, event: 1 as const, bytes };
      host.handle({ kind: "large", ...message });
    });
    return;
  }
  const arena = Uint8Array.from(Buffer.concat(events));
  const meta = events.flatMap((event, index) => [tick.number, tick.from + index, event.length, 1]);
  host.handle({ kind: "events", arena: arena.buffer, meta: Float64Array.from(meta) });
}
