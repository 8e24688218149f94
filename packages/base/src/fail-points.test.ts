import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { failPointText, killingFailPoints } from "./fail-points.ts";
import { systemRandom } from "./random.ts";

const names = ["after-copy", "after-fence", "commit-sent"] as const;

test("a fail point names its place and the visit, the first unless told", () => {
  const text = failPointText(names);
  expect(text.parse("after-copy")).toEqual({ names: ["after-copy"], visit: 1, afterMs: 0 });
  expect(text.parse("commit-sent:12")).toEqual({ names: ["commit-sent"], visit: 12, afterMs: 0 });
  expect(text.parse("commit-sent|after-fence@20")).toEqual({
    names: ["commit-sent", "after-fence"],
    visit: 1,
    afterMs: 20_000,
  });
  for (const bad of [
    "after-lunch",
    "after-copy:0",
    "after-copy:",
    "after-copy|",
    "after-copy@",
    "x|after-copy",
  ]) {
    expect(text.safeParse(bad).success).toBe(false);
  }
});

type Name = (typeof names)[number];

function onceAt(point: { names: readonly Name[]; visit: number; afterMs: number }, from: object = {}) {
  const deaths: Name[] = [];
  const die = (name: Name) => void deaths.push(name);
  const points = killingFailPoints(point, { clock: systemClock, random: systemRandom, die, ...from });
  return { points, deaths };
}

test("the process dies at the given visit of the given point and at no other", () => {
  const { points, deaths } = onceAt({ names: ["after-fence"], visit: 2, afterMs: 0 });
  const seen: number[] = [];
  for (const name of ["after-copy", "after-fence", "after-copy", "after-fence", "after-fence"] as const) {
    points.reach(name);
    seen.push(deaths.length);
  }
  expect(seen).toEqual([0, 0, 0, 1, 1]);
});

test("it does not die before what it is to have done is done", async () => {
  const { points, deaths } = onceAt({ names: ["after-copy"], visit: 1, afterMs: 0 });
  const done = Promise.withResolvers<void>();
  const death = points.reach("after-copy", done.promise);
  expect(deaths).toEqual([]);
  done.resolve();
  await death;
  expect(deaths).toEqual(["after-copy"]);
});

test("of several points chance chooses one, and none is its end before its time", () => {
  let nowMs = 5_000;
  const clock = { ...systemClock, monotonic: () => nowMs };
  const random = { ...systemRandom, fraction: () => 0.99 };
  const { points, deaths } = onceAt(
    { names: ["after-copy", "after-fence"], visit: 1, afterMs: 20_000 },
    { clock, random },
  );
  points.reach("after-fence");
  nowMs += 20_000;
  points.reach("after-copy");
  expect(deaths).toEqual([]);
  points.reach("after-fence");
  expect(deaths).toEqual(["after-fence"]);
});

test("where nothing is to fail nothing does", () => {
  expect(killingFailPoints(undefined).reach("after-copy")).toBeUndefined();
});
