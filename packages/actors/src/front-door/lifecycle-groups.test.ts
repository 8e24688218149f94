import { MillraceError } from "@millrace/base/errors";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import type { Bus } from "@millrace/proto/bus";
import { lifecycleChannel } from "@millrace/proto/channels";
import { beforeEach, expect, test } from "vitest";
import { LifecycleGroups } from "./lifecycle-groups.ts";

/** A request that a writer has got and not answered yet. */
interface Asked {
  readonly sequences: (number | undefined)[];
  readonly timeoutMs: number;
  answer(): Promise<void>;
  fail(): Promise<void>;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let clock: ScriptedClock;
let asked: Asked[];
let groups: LifecycleGroups;

beforeEach(() => {
  clock = new ScriptedClock();
  asked = [];
  const bus: Pick<Bus, "request"> = {
    request: (channel, ask) =>
      new Promise((resolve, reject) => {
        const { calls } = lifecycleChannel.request.decode(channel.request.encode(ask.message));
        asked.push({
          sequences: (calls ?? []).map(({ sequence }) => Number(sequence)),
          timeoutMs: ask.timeoutMs,
          answer: () => {
            resolve(channel.reply.decode(lifecycleChannel.reply.encode({})));
            return turn();
          },
          fail: () => {
            reject(new MillraceError({ remedy: "retry", code: "nats-timeout", message: "no answer" }));
            return turn();
          },
        });
      }),
  };
  groups = new LifecycleGroups({ bus, clock }, 2_000);
});

const record = (sequence: number): Promise<boolean> => groups.record({ sequence });

/** As many requests on their way as there may be; sequences 1 to 4. */
async function fill(): Promise<void> {
  for (const sequence of [1, 2, 3, 4]) {
    void record(sequence);
    await turn();
  }
}

test("calls of one turn share a request, and all are told when it is answered", async () => {
  const calls = [record(1), record(2)];
  await turn();
  expect(asked).toMatchObject([{ sequences: [1, 2], timeoutMs: 2_000 }]);
  await asked[0]?.answer();
  expect(await Promise.all(calls)).toEqual([true, true]);
});

test("calls that come while four requests are on their way share the next one", async () => {
  await fill();
  const late = [record(5), record(6)];
  await turn();
  expect(asked).toHaveLength(4);
  await asked[2]?.answer();
  expect(asked[4]).toMatchObject({ sequences: [5, 6] });
  await asked[4]?.answer();
  expect(await Promise.all(late)).toEqual([true, true]);
});

test("a request that fails tells its calls so, and the others go on", async () => {
  const lost = record(1);
  await turn();
  await asked[0]?.fail();
  expect(await lost).toBe(false);
  const next = record(2);
  await turn();
  await asked[1]?.answer();
  expect(await next).toBe(true);
});

test("nobody waits for longer than promised, the wait for its turn included", async () => {
  await fill();
  const late = record(5);
  await turn();
  await clock.advance(1_500);
  await asked[0]?.fail();
  expect(asked[4]).toMatchObject({ sequences: [5], timeoutMs: 500 });
  const later = record(6);
  await turn();
  await clock.advance(2_000);
  await asked[1]?.fail();
  expect(await later).toBe(false);
  expect(asked).toHaveLength(5);
  await asked[4]?.answer();
  expect(await late).toBe(true);
});
