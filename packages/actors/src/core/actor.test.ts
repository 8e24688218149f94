import { google } from "@millrace/proto/gen/bes";
import { RefusalReason } from "@millrace/proto/pipeline";
import { expect, test } from "vitest";
import { endStatus } from "../thread-messages.ts";
import { Actor } from "./actor.ts";
import type { BatchContent, BatchLimits, Effect } from "./effects.ts";

const limits: BatchLimits = {
  batchEventsMax: 3,
  batchBytesMax: 100_000,
  batchDelayMs: 50,
  heldDelayMs: 1_000,
  inFlightBatchesMax: 2,
  inFlightBytesMax: 1_000_000,
};

/** An event that no reader of BEP understands: stored raw, without rows. */
function event(n: number): Uint8Array {
  return google.devtools.build.v1.BuildEvent.encode({ eventTime: { seconds: n, nanos: 0 } }).finish();
}

const lastEvent = google.devtools.build.v1.BuildEvent.encode({
  componentStreamFinished: { type: 1 },
}).finish();

/** Drives an actor and keeps what it asked for. */
class Driver {
  readonly actor: Actor;
  readonly effects: Effect[] = [];

  constructor(firstSequence: number) {
    this.actor = new Actor({ firstSequence, limits });
    this.collect();
  }

  send(from: number, to: number, options: { lastIs?: Uint8Array } = {}): this {
    for (let n = from; n <= to; n += 1) {
      this.actor.event(n, n === to && options.lastIs ? options.lastIs : event(n));
    }
    this.actor.turnEnded();
    return this.collect();
  }

  tell(input: (actor: Actor) => void): this {
    input(this.actor);
    return this.collect();
  }

  commit(first: number, last: number, opened?: { attemptId: number }): this {
    return this.tell((actor) =>
      actor.batchAnswered(first, {
        committed: {
          lastSequence: last,
          ...(opened ? { opened: { ...opened, attempt: 1, committed: last } } : {}),
        },
      }),
    );
  }

  get batches(): BatchContent[] {
    return this.effects.flatMap((effect) => (effect.kind === "seal" ? [effect.batch] : []));
  }

  get acked(): number {
    return this.effects.reduce((to, effect) => (effect.kind === "ack" ? Math.max(to, effect.to) : to), 0);
  }

  get released(): number {
    return this.effects.reduce((sum, effect) => sum + (effect.kind === "ack" ? effect.released : 0), 0);
  }

  get ends(): { status: number; message: string }[] {
    return this.effects.flatMap((effect) => (effect.kind === "end" ? [effect] : []));
  }

  has(kind: Effect["kind"]): boolean {
    return this.effects.some((effect) => effect.kind === kind);
  }

  private collect(): this {
    this.effects.push(...this.actor.takeEffects());
    return this;
  }
}

test("the first batch of a stream that starts at 1 opens it and leaves at once", () => {
  const driver = new Driver(1).send(1, 2);
  expect(driver.batches).toMatchObject([{ first: 1, last: 2, opens: true }]);
  expect(driver.acked).toBe(0);
});

test("nothing is acked before its commit, and then in order up to it", () => {
  const driver = new Driver(1).send(1, 2).send(3, 4);
  expect(driver.acked).toBe(0);
  driver.commit(1, 2, { attemptId: 7 });
  expect(driver.acked).toBe(2);
  expect(driver.batches).toHaveLength(2);
  driver.commit(3, 4);
  expect(driver.acked).toBe(4);
});

test("while the opening is unanswered nothing else is sent", () => {
  const driver = new Driver(1).send(1, 1).send(2, 20);
  expect(driver.batches).toHaveLength(1);
});

test("batches close at the bound and at most two are in flight", () => {
  const driver = new Driver(1).send(1, 1).commit(1, 1, { attemptId: 7 }).send(2, 20);
  expect(driver.batches.map((batch) => [batch.first, batch.last])).toEqual([
    [1, 1],
    [2, 4],
    [5, 7],
  ]);
  driver.commit(2, 4);
  expect(driver.batches.at(-1)).toMatchObject({ first: 8, last: 10 });
});

test("a small batch behind one in flight waits for its timer", () => {
  const driver = new Driver(1).send(1, 1).commit(1, 1, { attemptId: 7 }).send(2, 2).send(3, 3);
  expect(driver.batches).toHaveLength(2);
  expect(driver.has("arm")).toBe(true);
  driver.tell((actor) => actor.timer("batch"));
  expect(driver.batches.at(-1)).toMatchObject({ first: 3, last: 3 });
});

test("a connection that starts above 1 asks first and goes on behind the committed position", () => {
  const driver = new Driver(4);
  expect(driver.effects).toEqual([{ kind: "open", firstSequence: 4 }]);
  driver.send(4, 8);
  expect(driver.batches).toHaveLength(0);
  driver.tell((actor) =>
    actor.openAnswered({
      opened: { attemptId: 7, attempt: 1, committed: 6, carry: { logBytes: 100, logLines: 9 } },
    }),
  );
  expect(driver.acked).toBe(6);
  expect(driver.batches).toMatchObject([{ first: 7, last: 8, logFirstByte: 100, logFirstLine: 9 }]);
});

test("a resend from 1 that meets a further attempt is projected anew behind it, with its carry", () => {
  const driver = new Driver(1).send(1, 3).send(4, 5);
  driver.tell((actor) =>
    actor.batchAnswered(1, {
      opened: { attemptId: 7, attempt: 1, committed: 2, carry: { logBytes: 50 } },
    }),
  );
  expect(driver.acked).toBe(2);
  expect(driver.batches.at(-1)).toMatchObject({ first: 3, last: 5, logFirstByte: 50, opens: false });
});

test("a full opening batch that meets a further attempt loses nothing of what is behind it", () => {
  const driver = new Driver(1).send(1, 5);
  driver.tell((actor) =>
    actor.batchAnswered(1, { opened: { attemptId: 7, attempt: 1, committed: 1, carry: {} } }),
  );
  driver.commit(2, 4);
  expect(driver.batches.slice(1).map((batch) => [batch.first, batch.last])).toEqual([
    [2, 4],
    [5, 5],
  ]);
});

test("a resend from 1 of a finished attempt is acked and written nowhere", () => {
  const driver = new Driver(1).send(1, 3).send(4, 5, { lastIs: lastEvent });
  driver.tell((actor) =>
    actor.batchAnswered(1, { opened: { attemptId: 7, attempt: 1, committed: 5, finished: true } }),
  );
  expect(driver.acked).toBe(5);
  expect(driver.batches).toHaveLength(1);
  driver.tell((actor) => actor.halfClose());
  expect(driver.ends).toEqual([{ kind: "end", status: endStatus.ok, message: "" }]);
  expect(driver.has("release")).toBe(false);
});

test("a gap ends the stream with FAILED_PRECONDITION, and what came before is still stored", () => {
  const driver = new Driver(1).send(1, 2).tell((actor) => {
    actor.event(4, event(4));
    actor.turnEnded();
  });
  expect(driver.ends[0]?.status).toBe(endStatus.failedPrecondition);
  driver.commit(1, 2, { attemptId: 7 });
  expect(driver.has("release")).toBe(true);
  expect(driver.has("remove")).toBe(true);
});

test("a repeat of an acked event is acked again, one that is not committed is not", () => {
  const driver = new Driver(1).send(1, 2).send(2, 2);
  expect(driver.has("ack-again")).toBe(false);
  driver.commit(1, 2, { attemptId: 7 }).send(1, 1);
  expect(driver.effects).toContainEqual({ kind: "ack-again", sequence: 1 });
});

test("the end: after half-close and the last ack the stream ends OK, and the attempt is not released", () => {
  const driver = new Driver(1).send(1, 3, { lastIs: lastEvent }).tell((actor) => actor.halfClose());
  expect(driver.ends).toEqual([]);
  driver.commit(1, 3, { attemptId: 7 });
  expect(driver.ends).toMatchObject([{ status: endStatus.ok }]);
  expect(driver.has("release")).toBe(false);
  expect(driver.has("remove")).toBe(true);
});

test("what a broken connection sent is still stored, then the attempt is released", () => {
  const driver = new Driver(1).send(1, 1).commit(1, 1, { attemptId: 7 }).send(2, 9);
  driver.tell((actor) => actor.break());
  driver.commit(2, 4).commit(5, 7).commit(8, 9);
  expect(driver.batches.at(-1)).toMatchObject({ first: 8, last: 9 });
  expect(driver.effects.at(-2)).toEqual({ kind: "release", attemptId: 7 });
  expect(driver.effects.at(-1)).toEqual({ kind: "remove" });
});

test("an event behind the end of the stream is refused and not stored", () => {
  const driver = new Driver(1).send(1, 2, { lastIs: lastEvent }).send(3, 3);
  driver.commit(1, 2, { attemptId: 7 });
  expect(driver.ends[0]?.status).toBe(endStatus.failedPrecondition);
  expect(driver.batches).toHaveLength(1);
});

test.each([
  ["fenced", { fenced: {} }, endStatus.unavailable],
  ["rejected", { rejected: { message: "why" } }, endStatus.failedPrecondition],
  ["ambiguous", { refused: { reason: RefusalReason.AMBIGUOUS } }, endStatus.unavailable],
  ["hole", { refused: { reason: RefusalReason.HOLE } }, endStatus.failedPrecondition],
])("an answer that is %s ends the stream and gives all memory back", (_, reply, status) => {
  const driver = new Driver(1).send(1, 5);
  driver.tell((actor) => actor.batchAnswered(1, reply));
  expect(driver.ends[0]?.status).toBe(status);
  const received = [1, 2, 3, 4, 5].reduce((sum, n) => sum + event(n).length + 256, 0);
  expect(driver.released).toBe(received);
});

test("once the end is acked, neither drain nor a newer connection ends it with an error", () => {
  for (const disturb of [(a: Actor) => a.supersede(), (a: Actor) => a.drainDeadline()]) {
    const driver = new Driver(1).send(1, 2, { lastIs: lastEvent }).commit(1, 2, { attemptId: 7 });
    expect(driver.tell(disturb).ends).toMatchObject([{ status: endStatus.ok }]);
  }
});

test("a client that still sends a finished stream again is not told OK before all of it is acked", () => {
  for (const disturb of [(a: Actor) => a.supersede(), (a: Actor) => a.drainDeadline()]) {
    const driver = new Driver(4).send(4, 6);
    driver.tell((actor) =>
      actor.openAnswered({ opened: { attemptId: 7, attempt: 1, committed: 10, finished: true } }),
    );
    expect(driver.acked).toBe(6);
    expect(driver.tell(disturb).ends.map(({ status }) => status)).not.toContain(endStatus.ok);
  }
});

test("a client that half-closes behind events that a drain turned away is not told OK", () => {
  const driver = new Driver(1).send(1, 2);
  driver.tell((actor) => actor.drain());
  driver.send(3, 4, { lastIs: lastEvent }).tell((actor) => actor.halfClose());
  driver.commit(1, 2, { attemptId: 7 });
  expect(driver.acked).toBe(2);
  expect(driver.ends).toMatchObject([{ status: endStatus.unavailable }]);
});

test("drain commits what is in hand, acks it and then sends the client away", () => {
  const driver = new Driver(1).send(1, 1).commit(1, 1, { attemptId: 7 }).send(2, 3);
  driver.tell((actor) => actor.drain());
  expect(driver.ends).toEqual([]);
  driver.commit(2, 3);
  expect(driver.acked).toBe(3);
  expect(driver.ends).toMatchObject([{ status: endStatus.unavailable }]);
});

test("memory of every event is given back exactly once", () => {
  const driver = new Driver(1).send(1, 3).commit(1, 3, { attemptId: 7 }).send(2, 3).send(4, 4);
  driver.commit(4, 4);
  const events = [1, 2, 3, 2, 3, 4];
  expect(driver.released).toBe(events.reduce((sum, n) => sum + event(n).length + 256, 0));
});
