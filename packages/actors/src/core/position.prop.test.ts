import fc from "fast-check";
import { expect, test } from "vitest";
import {
  classifyArrival,
  markCommitted,
  markSeen,
  type StreamPosition,
  startOfConnection,
  takeAcks,
} from "./position.ts";

type Step = { kind: "arrive"; sequence: number } | { kind: "commit"; upTo: number } | { kind: "ack" };

const step = fc.oneof(
  fc.record({ kind: fc.constant("arrive" as const), sequence: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant("commit" as const), upTo: fc.integer({ min: 0, max: 30 }) }),
  fc.record({ kind: fc.constant("ack" as const) }),
);

function play(first: number, steps: readonly Step[]) {
  let at: StreamPosition = startOfConnection(first);
  const acks: number[] = [];
  for (const one of steps) {
    if (one.kind === "commit") at = markCommitted(at, one.upTo);
    else if (one.kind === "ack") {
      const taken = takeAcks(at);
      for (let n = taken.from; n <= taken.to; n += 1) acks.push(n);
      at = taken.position;
    } else {
      const arrival = classifyArrival(at, one.sequence);
      if (arrival.kind === "new" || arrival.kind === "stored") at = markSeen(at, one.sequence);
    }
    expect(at.acked).toBeLessThanOrEqual(at.seen);
    expect(at.acked <= at.committed || at.acked === first - 1).toBe(true);
  }
  return { at, acks };
}

test("acks ascend by one from the connection's first number, never ahead of commit or of what was sent", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step, { maxLength: 80 }), (first, steps) => {
      const { acks } = play(first, steps);
      expect(acks).toEqual(acks.map((_, index) => first + index));
    }),
  );
});

test("once everything sent is committed, everything sent is acked", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step, { maxLength: 80 }), (first, steps) => {
      const { at } = play(first, [...steps, { kind: "commit", upTo: 40 }, { kind: "ack" }]);
      expect(at.acked).toBe(at.seen);
    }),
  );
});

test("a number above the next one is a gap, one that was sent is a repeat", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: -5, max: 40 }), (seen, sequence) => {
      const at = { committed: 3, seen, acked: 0 };
      const kind = classifyArrival(at, sequence).kind;
      if (sequence > seen + 1) expect(kind).toBe("gap");
      else if (sequence <= seen) expect(kind).toBe("repeat");
      else expect(kind).toBe(sequence <= 3 ? "stored" : "new");
    }),
  );
});
