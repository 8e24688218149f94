import type { Target } from "@millrace/client/client";
import { expect, test } from "vitest";
import { groupByCause } from "./group-by-cause.ts";

const target = (label: string, failureMessage: string | null) => ({ label, failureMessage }) as Target;

test("one cause is told once, and what has none comes last", () => {
  const targets = [target("a", null), target("b", "x"), target("c", "y"), target("d", "x")];
  const groups = groupByCause(targets).map((group) => [
    group.message,
    group.targets.map((each) => each.label),
  ]);
  expect(groups).toEqual([
    ["x", ["b", "d"]],
    ["y", ["c"]],
    [null, ["a"]],
  ]);
  expect(groupByCause([])).toEqual([]);
});
