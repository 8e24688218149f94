import { expect, test } from "vitest";
import { failPointText, killingFailPoints } from "./failpoints.ts";

test("a fail point names its place and the visit, the first unless told", () => {
  expect(failPointText.parse("after-copy")).toEqual({ name: "after-copy", visit: 1 });
  expect(failPointText.parse("commit-sent:12")).toEqual({ name: "commit-sent", visit: 12 });
  for (const bad of ["after-lunch", "after-copy:0", "after-copy:"]) {
    expect(failPointText.safeParse(bad).success).toBe(false);
  }
});

test("the process dies at the given visit of the given point and at no other", async () => {
  let deaths = 0;
  const points = killingFailPoints({ name: "after-fence", visit: 2 }, () => {
    deaths += 1;
  });
  const seen: number[] = [];
  for (const name of ["after-copy", "after-fence", "after-copy", "after-fence", "after-fence"] as const) {
    await points.reach(name);
    seen.push(deaths);
  }
  expect(seen).toEqual([0, 0, 0, 1, 1]);
});
