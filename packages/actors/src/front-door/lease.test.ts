import { MillraceError } from "@millrace/base/errors";
import { type Log, silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import type { Bus } from "@millrace/proto/bus";
import { expect, test } from "vitest";
import { keepLease } from "./lease.ts";

/** Writers that do not answer the first `failures` times, and what they were asked at which time. */
function leaseWith(failures: number) {
  const clock = new ScriptedClock();
  const asked: { at: number; leaving: boolean }[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const bus = {
    request: async (_: unknown, ask: { message: { leaving?: boolean } }) => {
      asked.push({ at: clock.now(), leaving: ask.message.leaving === true });
      if (asked.length > failures) return {};
      throw new MillraceError({ remedy: "retry", code: "nats-no-responders", message: "nobody" });
    },
  } as unknown as Pick<Bus, "request">;
  return { clock, asked, warnings, lease: keepLease("node", { bus, clock, log }) };
}

test("a lease is renewed every 10 s", async () => {
  const { clock, asked } = leaseWith(0);
  await clock.advance(30_000);
  expect(asked.map(({ at }) => at)).toEqual([0, 10_000, 20_000, 30_000]);
});

test("where nobody answers it is tried every second, silently at first", async () => {
  const { clock, asked, warnings } = leaseWith(3);
  await clock.advance(13_000);
  expect(asked.map(({ at }) => at)).toEqual([0, 1_000, 2_000, 3_000, 13_000]);
  expect(warnings).toEqual([]);
});

test("a lease that is not renewed for long is worth one line", async () => {
  const { clock, warnings } = leaseWith(100);
  await clock.advance(20_000);
  expect(warnings).toHaveLength(1);
});

test("leaving says so and asks no more", async () => {
  const { clock, asked, lease } = leaseWith(0);
  await clock.advance(5_000);
  await lease.leave();
  await clock.advance(60_000);
  expect(asked.map(({ leaving }) => leaving)).toEqual([false, true]);
});
