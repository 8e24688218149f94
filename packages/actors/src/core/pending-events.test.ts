import { expect, test } from "vitest";
import { PendingEvents } from "./pending-events.ts";

const event = (sequence: number) => ({ sequence, bytes: Uint8Array.of(sequence), large: false });

function filled(from: number, to: number): PendingEvents {
  const pending = new PendingEvents(from);
  for (let n = from; n <= to; n += 1) pending.push(event(n), 10);
  return pending;
}

test("events leave in order", () => {
  const pending = filled(1, 3);
  expect(
    [pending.shift(), pending.shift(), pending.shift(), pending.shift()].map((e) => e?.sequence),
  ).toEqual([1, 2, 3, undefined]);
});

test("memory is released by commit, not by projection, and only once", () => {
  const pending = filled(5, 9);
  pending.shift();
  expect(pending.releaseUpTo(4)).toBe(0);
  expect(pending.releaseUpTo(6)).toBe(20);
  expect(pending.releaseUpTo(6)).toBe(0);
  expect(pending.releaseUpTo(100)).toBe(30);
});

test("projected events can be put back in front", () => {
  const pending = filled(1, 4);
  const projected = [pending.shift(), pending.shift()].filter((e) => e !== undefined);
  pending.unshift(projected);
  expect(pending.length).toBe(4);
  expect(pending.peek()?.sequence).toBe(1);
});

test("what is stored already is dropped from the front", () => {
  const pending = filled(3, 8);
  pending.dropUpTo(6);
  expect(pending.peek()?.sequence).toBe(7);
  expect(pending.length).toBe(2);
});
