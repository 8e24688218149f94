import { ScriptedClock } from "@millrace/base/scripted-clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Inbox } from "./inbox.ts";
import { batchWork } from "./works.fixture.ts";

const offered = fc.record({
  project: fc.constantFrom("p", "q"),
  invocation: fc.constantFrom("a", "b", "c"),
  first: fc.integer({ min: 1, max: 5 }),
  wait: fc.constantFrom("ahead" as const, "busy" as const, "next" as const, undefined, undefined, undefined),
});

test("whatever waits and why: every asker is answered once, and no invocation is in two groups", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(offered, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 7 }),
      runModel,
    ),
    { numRuns: 200 },
  );
});

async function runModel(
  works: {
    project: string;
    invocation: string;
    first: number;
    wait: "ahead" | "busy" | "next" | undefined;
  }[],
  groupBatchesMax: number,
): Promise<void> {
  const clock = new ScriptedClock();
  const inbox = new Inbox({ inboxBytesMax: 1e9, groupBytesMax: 1e9, groupBatchesMax }, clock);
  const answers = works.map(() => 0);
  const offer = (index: number): void => {
    const work = works[index];
    if (work === undefined) return;
    const { project, invocation, first } = work;
    inbox.offer(batchWork({ project, invocation, attemptId: 1, first, last: first }), () => {
      answers[index] = (answers[index] ?? 0) + 1;
    });
  };
  const waits = works.map((work) => work.wait);
  for (const index of works.keys()) offer(index);
  let isDone = false;
  const busy = new Set<string>();
  const lane = async (): Promise<void> => {
    for (;;) {
      const group = await inbox.takeGroup();
      if (group === undefined) return;
      const flows = new Set(group.map((item) => item.flow.name));
      for (const flow of flows) expect(busy.has(flow)).toBe(false);
      for (const flow of flows) busy.add(flow);
      await clock.advance(1);
      for (const item of group) {
        const wait = isDone ? undefined : waits.pop();
        if (wait === undefined) item.answer({ fenced: {} });
        else item.wait = wait;
      }
      for (const flow of flows) busy.delete(flow);
      inbox.settle(group);
    }
  };
  const lanes = [lane(), lane()];
  await clock.advance(50);
  isDone = true;
  // Something new of every invocation has what is ahead looked at again.
  for (const project of ["p", "q"]) {
    for (const invocation of ["a", "b", "c"]) {
      inbox.offer(batchWork({ project, invocation, attemptId: 1, first: 9, last: 9 }), () => {});
    }
  }
  await clock.advance(50);
  inbox.drain();
  await Promise.all(lanes);
  expect(answers).toEqual(works.map(() => 1));
  expect([inbox.count, inbox.bytes]).toEqual([0, 0]);
}
