import fc from "fast-check";
import { expect, test } from "vitest";
import { nextPartState, type PartEffect, type PartInput, type PartState } from "./part-states.ts";
import { loopDeaths, wellAfterMs } from "./rest-times.ts";

const restarting = { restarts: true };

/** Feeds inputs from `idle` on. */
function run(inputs: readonly PartInput[], policy = restarting): { state: PartState; effects: PartEffect[] } {
  let state: PartState = { kind: "idle" };
  const effects: PartEffect[] = [];
  for (const input of inputs) {
    const step = nextPartState(state, input, policy);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const up = (atMs: number): PartInput => ({ kind: "came-up", atMs });
const death = (atMs: number): PartInput => ({ kind: "died", atMs });
const start: PartInput = { kind: "start" };
const rested: PartInput = { kind: "rested" };
const stop: PartInput = { kind: "stop" };

const restsOf = (effects: readonly PartEffect[]): number[] =>
  effects.flatMap((effect) => (effect.kind === "rest" ? [effect.delayMs] : []));

test("the first death is followed by a start without a rest", () => {
  const { state, effects } = run([start, up(0), death(3)]);
  expect(state).toEqual({ kind: "resting", deaths: 1 });
  expect(restsOf(effects)).toEqual([0]);
});

test("rests grow to 10 s and no further while it dies soon after each start", () => {
  const inputs = [start, ...Array.from({ length: 9 }, () => [up(0), death(1), rested]).flat()];
  expect(restsOf(run(inputs).effects)).toEqual([0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
});

test("a start that fails counts as a death", () => {
  const failed: PartInput = { kind: "did-not-come-up" };
  expect(restsOf(run([start, up(0), death(1), rested, failed, rested, failed]).effects)).toEqual([
    0, 500, 1000,
  ]);
});

test("who was well for long enough is back at once, however often it died before", () => {
  const well = wellAfterMs;
  const { effects } = run([start, up(0), death(1), rested, up(0), death(1), rested, up(0), death(well)]);
  expect(restsOf(effects)).toEqual([0, 500, 0]);
});

test("a crash loop is called one from the fifth death on", () => {
  const inputs = [start, ...Array.from({ length: loopDeaths }, () => [up(0), death(1), rested]).flat()];
  const loops = run(inputs).effects.flatMap((effect) =>
    effect.kind === "tell" && effect.news.kind === "restarting" ? [effect.news.isLoop] : [],
  );
  expect(loops).toEqual([false, false, false, false, true]);
});

test("a first start that fails is not tried again", () => {
  const { state, effects } = run([start, { kind: "did-not-come-up" }, rested]);
  expect(state).toEqual({ kind: "failed" });
  expect(restsOf(effects)).toEqual([]);
});

test("without restarts a death is the end", () => {
  const { state, effects } = run([start, up(0), death(1), rested], { restarts: false });
  expect(state).toEqual({ kind: "given-up" });
  expect(effects.filter((effect) => effect.kind === "launch")).toHaveLength(1);
});

test("what comes up although it was told to stop is ended", () => {
  const { state, effects } = run([start, stop, up(0), death(1)]);
  expect(state).toEqual({ kind: "stopped" });
  expect(effects.filter((effect) => effect.kind === "end")).toHaveLength(2);
});

test("a start that is broken off by a stop has ended", () => {
  const { state, effects } = run([start, stop, { kind: "did-not-come-up" }]);
  expect(state).toEqual({ kind: "stopped" });
  expect(effects.map((effect) => effect.kind)).toEqual(["launch", "end", "tell"]);
});

test("stopping while it rests cancels the rest", () => {
  const { state, effects } = run([start, up(0), death(1), stop, rested]);
  expect(state).toEqual({ kind: "stopped" });
  expect(effects.map((effect) => effect.kind)).toContain("cancel-rest");
});

const anyInput: fc.Arbitrary<PartInput> = fc.oneof(
  fc.constantFrom<PartInput>(start, rested, stop, { kind: "did-not-come-up" }),
  fc.nat({ max: 100_000 }).map(up),
  fc.nat({ max: 100_000 }).map(death),
);

test("after stop nothing is launched, and it always ends", () => {
  fc.assert(
    fc.property(fc.array(anyInput), fc.array(anyInput), fc.boolean(), (before, after, restarts) => {
      const stopped = run([...before, stop], { restarts });
      const launchesBefore = stopped.effects.filter((effect) => effect.kind === "launch").length;
      const end = run([...before, stop, ...after, death(0)], { restarts });
      expect(end.effects.filter((effect) => effect.kind === "launch")).toHaveLength(launchesBefore);
      expect(end.state.kind).toBe("stopped");
    }),
  );
});
