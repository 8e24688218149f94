import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { nodeZstd } from "@millrace/base/zstd";
import type { Bus } from "@millrace/proto/bus";
import { google } from "@millrace/proto/gen/bes";
import type { IBatchReply } from "@millrace/proto/pipeline";
import { expect, test } from "vitest";
import { ackStride, endStatus, eventOverheadBytes, type FromThread } from "../thread-messages.ts";
import { ThreadHost } from "./thread-host.ts";

const event = google.devtools.build.v1.BuildEvent.encode({ eventTime: { seconds: 1, nanos: 0 } }).finish();

/** A host whose writers give every batch the same answer. */
function hostWith(answer: IBatchReply) {
  const said: FromThread[] = [];
  const bus = { request: async () => answer, publish: () => {} } as unknown as Bus;
  const host = new ThreadHost(
    {
      bus,
      clock: new ScriptedClock(),
      random: systemRandom,
      zstd: nodeZstd(),
      blobs: { put: () => Promise.reject(new Error("nothing is staged here")) },
      log: silentLog,
      projectLarge: () => Promise.reject(new Error("no event here is large")),
      post: (message) => said.push(message),
      points: noFailPoints,
      soon: (action) => action(),
    },
    {
      nodeId: "node",
      limits: {
        batchEventsMax: 500,
        batchBytesMax: 1 << 18,
        batchDelayMs: 50,
        heldDelayMs: 1_000,
        inFlightBatchesMax: 4,
        inFlightBytesMax: 1 << 20,
        messageBytesMax: 8 << 20,
        outageHoldMaxMs: 60_000,
      },
    },
  );
  const released = (): number =>
    said.reduce((sum, message) => {
      if (message.kind !== "acks") return sum;
      for (let at = 0; at < message.entries.length; at += ackStride) sum += message.entries[at + 2] ?? 0;
      return sum;
    }, 0);
  const ends = () => said.flatMap((message) => (message.kind === "end" ? [message] : []));
  return { host, released, ends };
}

function connect(host: ThreadHost, connection: number): void {
  host.handle({
    kind: "connected",
    connection,
    project: "default",
    invocationId: "an-invocation",
    buildId: "a-build",
    firstSequence: 1,
    serverSecret: Uint8Array.of(1),
  });
}

function send(host: ThreadHost, connection: number, sequence: number): void {
  const arena = Uint8Array.from(event).buffer;
  host.handle({ kind: "events", arena, meta: Float64Array.of(connection, sequence, event.length, 1) });
}

test("events that come for a connection whose actor is gone give their memory back, large ones too", async () => {
  const { host, released, ends } = hostWith({ fenced: {} });
  connect(host, 1);
  send(host, 1, 1);
  await expect.poll(ends).toMatchObject([{ connection: 1, status: endStatus.unavailable }]);
  send(host, 1, 2);
  host.handle({ kind: "large", connection: 1, sequence: 3, event: 1, bytes: new Uint8Array(2_000_000) });
  expect(released()).toBe(2 * event.length + 2_000_000 + 3 * eventOverheadBytes);
});

test("a newer connection of the same attempt supersedes the older one", async () => {
  const { host, ends, released } = hostWith({
    committed: { lastSequence: 1, opened: { attemptId: 7, attempt: 1, committed: 1 } },
  });
  connect(host, 1);
  send(host, 1, 1);
  await expect.poll(released).toBeGreaterThan(0);
  connect(host, 2);
  send(host, 2, 1);
  await expect.poll(ends).toMatchObject([{ connection: 1, status: endStatus.aborted }]);
  expect(host.size).toBe(1);
});

test("a drain turns new connections away and ends when the last one has left", async () => {
  const { host, ends } = hostWith({
    committed: { lastSequence: 1, opened: { attemptId: 7, attempt: 1, committed: 1 } },
  });
  connect(host, 1);
  send(host, 1, 1);
  await host.drain();
  connect(host, 2);
  expect(ends()).toMatchObject([
    { connection: 1, status: endStatus.unavailable },
    { connection: 2, status: endStatus.unavailable },
  ]);
});
