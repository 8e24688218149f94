import { assert } from "@millrace/base/assert";
import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { beforeEach, expect, test } from "vitest";
import { RunnerError } from "../runner-error.ts";
import { Consumers, type Handler } from "./consumers.ts";
import { type ClaimAsk, deadGroupOf, deadTopicOf, type QueueStore } from "./message.ts";
import { noQueueMetrics } from "./metrics.ts";
import { ModelQueue } from "./model-queue.fixture.ts";
import { done, type Outcome } from "./outcome.ts";
import { reconcilerSettings, topicSettingsShape } from "./topic-settings.ts";

let clock: ScriptedClock;
let queue: ModelQueue;
let claims: (readonly ClaimAsk[])[];
let failures: number;
let broken: string[];
let consumers: Consumers | undefined;

beforeEach(() => {
  clock = new ScriptedClock(1_000);
  queue = new ModelQueue({ now: () => clock.now(), groupsOf: () => ["g"] });
  claims = [];
  failures = 0;
  broken = [];
});

const publish = (id: string, key = id) => {
  queue.publish({ topic: "work", id, key, payload: {} });
  consumers?.wake();
};

function start(
  handle: Handler,
  change: Record<string, unknown> = {},
  reconcile: Handler = async () => done,
): Consumers {
  const settings = topicSettingsShape.parse({ retry_jitter: 0, ...change });
  const away = (): void => {
    if (failures-- > 0) throw new Error("the database is away");
  };
  const store: QueueStore = {
    claim: async (asks) => {
      claims.push(asks);
      away();
      return queue.claim(asks);
    },
    finish: async (finished) => {
      away();
      return queue.finish(finished);
    },
    extend: async (deliveries, visibilityMs) => queue.extend(deliveries, visibilityMs),
  };
  const dead = {
    topic: deadTopicOf("work"),
    group: deadGroupOf("g"),
    settings: reconcilerSettings(settings),
  };
  consumers = new Consumers(
    [
      { topic: "work", group: "g", settings, handle },
      { ...dead, handle: reconcile },
    ],
    {
      queue: store,
      clock,
      random: { bytes: (n) => new Uint8Array(n), uuid: () => "", fraction: () => 0.5 },
      log: silentLog,
      metrics: noQueueMetrics,
      fail: (error) => broken.push(error.message),
    },
  );
  consumers.wake();
  return consumers;
}

const hold = (delayMs: number): Outcome => ({ kind: "hold", delayMs });
const never = (signal: AbortSignal) =>
  new Promise<Outcome>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

test("a topic without a reconciler is refused at the start", () => {
  const settings = topicSettingsShape.parse(undefined);
  const alone = [{ topic: "work", group: "g", settings, handle: async () => done }];
  expect(() => new Consumers(alone, {} as never)).toThrow(/dead letters of work have a reconciler/);
});

test("nothing is asked of the database while nothing is due", async () => {
  start(async () => hold(60_000));
  publish("a");
  await clock.advance(1_000);
  const before = claims.length;
  await clock.advance(58_000);
  expect(claims.length).toBe(before);
  await clock.advance(2_000);
  expect(claims.length).toBeGreaterThan(before);
});

test("a hold comes back when it is due, for ever, as the first attempt", async () => {
  const seen: [number, number][] = [];
  start(async ({ attempt, holds }) => {
    seen.push([attempt, holds]);
    return hold(1_000);
  });
  publish("a");
  await clock.advance(10_500);
  expect(seen.length).toBeGreaterThanOrEqual(10);
  expect(seen.every(([attempt]) => attempt === 1)).toBe(true);
  expect(seen.map(([, holds]) => holds)).toEqual(seen.map((_, index) => index));
});

test("a negative delay, or none, is a hold of nothing", async () => {
  const delays = [-5, Number.NaN];
  let calls = 0;
  start(async () => {
    calls += 1;
    const delayMs = delays.pop();
    return delayMs === undefined ? done : hold(delayMs);
  });
  publish("a");
  await clock.advance(500);
  expect([calls, queue.unfinished()]).toEqual([3, []]);
});

test("a failure that may pass comes again with backoff, then dead-letters with its own reason", async () => {
  const at: number[] = [];
  start(
    async () => {
      at.push(clock.now());
      throw new RunnerError({ kind: "transient", message: "busy" });
    },
    { attempts_max: 4 },
  );
  publish("a");
  await clock.advance(20_000);
  const gaps = at.slice(1).map((ms, index) => Math.round((ms - (at[index] ?? 0)) / 1_000));
  expect(gaps).toEqual([1, 2, 4]);
  expect(queue.letters).toMatchObject([{ failures: 4, lastReason: "attempt 4: busy", state: "reconciled" }]);
});

test("what a provider asks to wait is waited, up to a limit", async () => {
  const at: number[] = [];
  start(
    async () => {
      at.push(clock.now());
      throw new RunnerError({
        kind: "transient",
        message: "busy",
        retryAfterMs: at.length === 1 ? 90_000 : 1e9,
      });
    },
    { attempts_max: 3 },
  );
  publish("a");
  await clock.advance(91_000);
  expect(at).toHaveLength(2);
  await clock.advance(15 * 60_000);
  expect(at).toHaveLength(3);
});

test("what nobody recognises dead-letters at once", async () => {
  let calls = 0;
  start(async () => {
    calls += 1;
    throw new Error("a mistake");
  });
  publish("a");
  await clock.advance(5_000);
  expect([calls, queue.letters[0]?.lastReason]).toEqual([1, "a mistake"]);
});

test("a reconciler is tried for ever, whatever it throws, with at most a minute between", async () => {
  let calls = 0;
  start(
    async () => {
      throw new Error("a mistake");
    },
    {},
    async () => {
      calls += 1;
      throw new Error("not readable yet");
    },
  );
  publish("a");
  await clock.advance(3_600_000);
  expect(calls).toBeGreaterThan(55);
  expect(queue.letters).toMatchObject([{ state: "open", occurrences: 1 }]);
  expect(queue.unfinished()).toMatchObject([{ topic: "work_dlq" }]);
});

test("no more handlers run at once than the topic allows; the next starts when one ends", async () => {
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  start(
    async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      return done;
    },
    { concurrency: 3 },
  );
  for (let n = 0; n < 10; n += 1) publish(`m${n}`);
  for (let n = 0; n < 10; n += 1) {
    await clock.advance(100);
    ends.shift()?.();
  }
  await clock.advance(100);
  expect([most, queue.unfinished()]).toEqual([3, []]);
});

test("a slow handler keeps its delivery by renewal, and is told to stop at its limit", async () => {
  let calls = 0;
  start(
    (_, signal) => {
      calls += 1;
      return never(signal);
    },
    { visibility_ms: 2_000, handler_ms_max: 10_000 },
  );
  publish("a");
  await clock.advance(9_000);
  expect(calls).toBe(1);
  await clock.advance(4_000);
  expect(queue.letters).toHaveLength(1);
});

test("a stop lets handlers end, tells the others to, and gives theirs back uncounted", async () => {
  const running = start((delivery, signal) =>
    delivery.messageId === "quick" ? Promise.resolve(done) : never(signal),
  );
  publish("quick");
  publish("slow");
  await clock.advance(50);
  const stopped = running.stop();
  await clock.advance(10_000);
  await stopped;
  expect(queue.unfinished()).toMatchObject([{ messageId: "slow", failures: 0 }]);
  expect([queue.handled.size, running.runningCount]).toEqual([0, 0]);
  publish("later");
  await clock.advance(1_000);
  expect(queue.unfinished()).toHaveLength(2);
});

test("a database that is away is asked again, and what ended is stored when it is back", async () => {
  let calls = 0;
  failures = 2;
  start(async () => {
    calls += 1;
    failures = 2;
    return done;
  });
  publish("a");
  await clock.advance(10_000);
  expect([calls, queue.unfinished()]).toEqual([1, []]);
});

test("an end that cannot be stored is left to the visibility, and counts as an attempt", async () => {
  const attempts: number[] = [];
  start(
    async ({ attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) failures = 4;
      return done;
    },
    { visibility_ms: 20_000 },
  );
  publish("a");
  await clock.advance(60_000);
  expect([attempts, queue.unfinished()]).toEqual([[1, 2], []]);
});

test("a hold that has lasted too long dead-letters, where the topic has a limit", async () => {
  start(async () => hold(1_000), { held_ms_max: 5_000 });
  publish("a");
  await clock.advance(8_000);
  expect(queue.letters[0]?.lastReason).toMatch(/^held for \d+ ms/);
});

test("a broken invariant of ours ends the process", async () => {
  start(async () => {
    assert(false, "the earth is flat");
    return done;
  });
  publish("a");
  await clock.advance(100);
  expect(broken).toEqual(["broken invariant: the earth is flat"]);
});
