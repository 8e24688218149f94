import { expect, test } from "vitest";
import { failPointText, killingFailPoints } from "./fail-points.ts";

const names = ["after-copy", "after-fence", "commit-sent"] as const;

test("a fail point names its place and the visit, the first unless told", () => {
  const text = failPointText(names);
  expect(text.parse("after-copy")).toEqual({ name: "after-copy", visit: 1 });
  expect(text.parse("commit-sent:12")).toEqual({ name: "commit-sent", visit: 12 });
  for (const bad of ["after-lunch", "after-copy:0", "after-copy:"]) {
    expect(text.safeParse(bad).success).toBe(false);
  }
});

test("the process dies at the given visit of the given point and at no other", async () => {
  let deaths = 0;
  const points = killingFailPoints<(typeof names)[number]>({ name: "after-fence", visit: 2 }, () => {
    deaths += 1;
  });
  const seen: number[] = [];
  for (const name of ["after-copy", "after-fence", "after-copy", "after-fence", "after-fence"] as const) {
    points.reach(name);
    seen.push(deaths);
  }
  expect(seen).toEqual([0, 0, 0, 1, 1]);
});

test("it does not die before what it is to have done is done", async () => {
  let isDead = false;
  const points = killingFailPoints({ name: "after-copy", visit: 1 }, () => {
    isDead = true;
  });
  const done = Promise.withResolvers<void>();
  const death = points.reach("after-copy", done.promise);
  expect(isDead).toBe(false);
  done.resolve();
  await death;
  expect(isDead).toBe(true);
});

test("where nothing is to fail nothing does", () => {
  expect(killingFailPoints(undefined).reach("after-copy")).toBeUndefined();
});
