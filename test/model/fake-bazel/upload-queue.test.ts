import fc from "fast-check";
import { expect, test } from "vitest";
import { type RequestSource, UploadQueue } from "./upload-queue.ts";

function numbers(count: number): RequestSource {
  let made = 0;
  return {
    get isDone() {
      return made === count;
    },
    next: (sequence) => {
      made += 1;
      expect(sequence).toBe(made);
      return Buffer.from(String(sequence));
    },
  };
}

test("whatever is sent, acknowledged and broken: each stream carries on at the first unacknowledged event", () => {
  const steps = fc.array(fc.constantFrom("send", "send", "send", "ack", "ack", "break"), { maxLength: 400 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 150 }), (script, count) => {
      const queue = new UploadQueue(numbers(count), "last-sending");
      const model = { sent: 0, acked: 0, taken: 0 };
      for (const [nowMs, step] of script.entries()) {
        if (step === "send") {
          const next = queue.takeNext({ nowMs, dueMs: nowMs });
          if (model.sent === count) expect(next).toBeUndefined();
          else {
            model.sent += 1;
            expect(next).toMatchObject({ sequence: model.sent, again: model.sent <= model.taken });
            expect(String(next?.request)).toBe(String(model.sent));
            model.taken = Math.max(model.taken, model.sent);
          }
        } else if (step === "ack" && model.acked < model.sent) {
          model.acked += 1;
          expect(queue.acknowledge(model.acked, nowMs)).toBeTypeOf("number");
        } else if (step === "break") {
          model.sent = model.acked;
          queue.startOver();
        }
        expect(queue.unackedCount).toBe(model.sent - model.acked);
        expect(queue.allIsSent).toBe(model.sent === model.taken && model.taken === count);
      }
    }),
  );
});

test("after a break many unacknowledged events are sent again as they were", () => {
  const queue = new UploadQueue(numbers(100), "last-sending");
  const at = { nowMs: 0, dueMs: 0 };
  for (let sequence = 1; sequence <= 100; sequence += 1) {
    queue.takeNext(at);
    if (sequence % 10 === 0) queue.acknowledge(sequence / 10, 0);
  }
  queue.startOver();
  for (let sequence = 11; sequence <= 100; sequence += 1) {
    const next = queue.takeNext(at);
    expect([next?.sequence, String(next?.request), next?.again]).toEqual([sequence, String(sequence), true]);
  }
  expect([queue.takeNext(at), queue.allIsSent, queue.unackedCount]).toEqual([undefined, true, 90]);
});

test.each([
  ["last-sending", 3],
  ["first-due", 95],
] as const)("latency since %s", (latencyStart, expected) => {
  const queue = new UploadQueue(numbers(1), latencyStart);
  queue.takeNext({ dueMs: 5, nowMs: 10 });
  queue.startOver();
  queue.takeNext({ dueMs: 90, nowMs: 97 });
  expect(queue.acknowledge(1, 100)).toBe(expected);
});
