import { ScriptedClock } from "@millrace/base/scripted-clock";
import type { Bus } from "@millrace/proto/bus";
import { expect, test } from "vitest";
import { startWaking } from "./wake.ts";

/** A bus that hands what is published to everybody, at once. */
function openBus(): { bus: Bus; said: unknown[] } {
  const handlers = new Set<(message: never, subject: string) => void>();
  const said: unknown[] = [];
  const bus = {
    publish: (_: unknown, { subject, message }: { subject: string; message: unknown }) => {
      said.push(message);
      for (const handler of [...handlers]) handler(message as never, subject);
    },
    subscribe: (_: unknown, __: string, handler: (message: never, subject: string) => void) => {
      handlers.add(handler);
      return { stop: async () => void handlers.delete(handler) };
    },
  } as unknown as Bus;
  return { bus, said };
}

test("alone: its own publishes wake it, nothing is said and nothing is looked for", async () => {
  const clock = new ScriptedClock();
  const { bus, said } = openBus();
  let wakes = 0;
  const waking = startWaking(bus, { self: "a", clock, reload: () => {}, wake: () => (wakes += 1) });
  await clock.advance(3_600_000);
  expect([wakes, said]).toEqual([0, [{ from: "a", kind: "hello" }]]);
  waking.published();
  expect([wakes, said.length]).toEqual([1, 1]);
});

test("two know of each other, wake each other, and look by themselves every 5 s", async () => {
  const clock = new ScriptedClock();
  const { bus } = openBus();
  let wakes = 0;
  const a = startWaking(bus, { self: "a", clock, reload: () => {}, wake: () => (wakes += 1) });
  const b = startWaking(bus, { self: "b", clock, reload: () => {}, wake: () => {} });
  expect([a.peers, b.peers]).toEqual([1, 1]);
  wakes = 0;
  b.published();
  expect(wakes).toBe(1);
  await clock.advance(50_000);
  expect(wakes).toBe(11);
  await b.stop();
  expect(a.peers).toBe(0);
});

test("one that was killed is forgotten in time", async () => {
  const clock = new ScriptedClock();
  const { bus } = openBus();
  const a = startWaking(bus, { self: "a", clock, reload: () => {}, wake: () => {} });
  bus.publish({ name: "signal.wake" } as never, {
    subject: "signal.wake",
    message: { from: "b", kind: "here" } as never,
  });
  expect(a.peers).toBe(1);
  await clock.advance(11 * 60_000);
  expect(a.peers).toBe(0);
});
