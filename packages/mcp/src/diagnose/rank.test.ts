import { expect, test } from "vitest";
import { type Candidate, rank } from "./rank.ts";

const candidate = (message: string, rest: Partial<Candidate> = {}): Candidate => ({
  severity: "error",
  category: "test",
  message,
  ...rest,
});

function ranked(...candidates: Candidate[]): string[] {
  return rank(candidates, 10).map(({ message }) => message);
}

test("an explained failure comes before one that only quotes its last words", () => {
  const bare = candidate("//:shard_test failed: shard 1", { isUnexplained: true });
  const explained = candidate("assertion failed: 1 != 2");
  expect(ranked(bare, explained)).toEqual([explained.message, bare.message]);
});

test("causes come before consequences, and of those only two are told", () => {
  const followers = [1, 2, 3].map((n) => candidate(`follows ${n}`, { isConsequence: true }));
  expect(ranked(...followers, candidate("cause", { category: "unknown" }))).toEqual([
    "cause",
    "follows 1",
    "follows 2",
  ]);
});

test("what only ranking knows does not come out", () => {
  const [only] = rank([candidate("a", { isUnexplained: true, isConsequence: true })], 1);
  expect(only).toEqual({ severity: "error", category: "test", message: "a" });
});
