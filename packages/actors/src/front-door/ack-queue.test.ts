import { describe, expect, it } from "vitest";
import { AckQueue } from "./ack-queue.ts";

function takeAll(queue: AckQueue, countMax: number): number[] {
  const taken: number[] = [];
  for (let run = queue.take(countMax); run !== undefined; run = queue.take(countMax)) {
    expect(run.to - run.from + 1).toBeLessThanOrEqual(countMax);
    for (let sequence = run.from; sequence <= run.to; sequence += 1) taken.push(sequence);
  }
  return taken;
}

describe("the queue of acknowledgements", () => {
  it("gives each number once, from the connection's first on", () => {
    const queue = new AckQueue(41);
    queue.upTo(43);
    queue.upTo(43);
    queue.upTo(42);
    queue.upTo(45);
    expect(queue.length).toBe(5);
    expect(takeAll(queue, 100)).toEqual([41, 42, 43, 44, 45]);
    expect(queue.length).toBe(0);
  });

  it("knows nothing to acknowledge below the first number", () => {
    const queue = new AckQueue(41);
    queue.upTo(0);
    queue.upTo(40);
    expect(queue.take(10)).toBeUndefined();
  });

  it("keeps a repeat in its place", () => {
    const queue = new AckQueue(1);
    queue.upTo(5);
    queue.again(2);
    queue.upTo(6);
    expect(takeAll(queue, 2)).toEqual([1, 2, 3, 4, 5, 2, 6]);
  });

  it("gives at most as many at a time as asked", () => {
    const queue = new AckQueue(1);
    queue.upTo(1_000_000);
    expect(queue.take(3)).toEqual({ from: 1, to: 3 });
    expect(queue.length).toBe(999_997);
    expect(queue.take(3)).toEqual({ from: 4, to: 6 });
  });
});
