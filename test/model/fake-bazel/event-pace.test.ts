import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import { EventPace } from "./event-pace.ts";

async function dueTimes(of: { untilMs: number; stepMs: number; count: number }) {
  const clock = new ScriptedClock(1_000);
  const pace = new EventPace({ clock, gapMs: 10, untilMs: of.untilMs });
  const times: [dueMs: number | undefined, sentMs: number][] = [];
  const sending = (async () => {
    for (let count = 0; count < of.count; count += 1) {
      await pace.next();
      times.push([pace.dueMs, clock.monotonic()]);
    }
  })();
  while (times.length < of.count) await clock.advance(of.stepMs);
  await sending;
  return times;
}

test("each event has its time", async () => {
  const times = await dueTimes({ untilMs: Number.POSITIVE_INFINITY, stepMs: 1, count: 4 });
  expect(times).toEqual([
    [1_000, 1_000],
    [1_010, 1_010],
    [1_020, 1_020],
    [1_030, 1_030],
  ]);
});

test("after the end of the pace the rest goes at once, as soon as it ends", async () => {
  const times = await dueTimes({ untilMs: 1_015, stepMs: 1, count: 5 });
  expect(times).toEqual([
    [1_000, 1_000],
    [1_010, 1_010],
    [undefined, 1_015],
    [undefined, 1_015],
    [undefined, 1_015],
  ]);
});

test("who is late keeps the due times", async () => {
  const clock = new ScriptedClock(0);
  const pace = new EventPace({ clock, gapMs: 10, untilMs: Number.POSITIVE_INFINITY });
  await pace.next();
  await clock.advance(100);
  const due: (number | undefined)[] = [];
  for (let count = 0; count < 10; count += 1) {
    await pace.next();
    due.push(pace.dueMs);
  }
  expect(due).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  expect(clock.monotonic()).toBe(100);
});
