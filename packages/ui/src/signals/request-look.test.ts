import { expect, test } from "vitest";
import { commitText, reasonText, requestLook } from "./request-look.ts";
import { readSignalsSearch } from "./signals-search.ts";

test.each([
  ["succeeded", null, "Green", "passed"],
  ["failed", null, "Broken", "failed"],
  ["failed", "timed_out", "Timed out", "flaky"],
  ["failed", "skipped", "No verdict", "flaky"],
  ["cancelled", "cancelled_by_operator", "Cancelled", "quiet"],
  ["processing", null, "Validating", "running"],
] as const)("%s (%s) is %s", (state, reason, word, tone) => {
  expect(requestLook({ state, reason })).toMatchObject({ word, tone });
});

test("only a commit's own hash is shortened", () => {
  expect(commitText("git:repo@0123456789abcdef0123456789abcdef01234567")).toBe("01234567");
  expect([commitText("repo@release-7"), commitText("repo@00000001")]).toEqual([
    "repo@release-7",
    "repo@00000001",
  ]);
});

test("a reason that the page does not know is shown as it is", () => {
  expect([reasonText("timed_out"), reasonText("out_of_quota")]).toEqual([
    "Its build was not over by its deadline.",
    "out of quota",
  ]);
});

test("what an address says wrongly is passed over", () => {
  expect(readSignalsSearch({ queue: "main", state: "", request: "x", other: 1 })).toEqual({ queue: "main" });
  expect(readSignalsSearch({ request: "7" })).toEqual({ request: 7 });
});
