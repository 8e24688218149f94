import { expect, test } from "vitest";
import { readKey } from "./key-sequence.ts";

const known = new Set(["j", "?", "g b", "g t"]);

test("a key alone, the beginning of a pair, and the pair", () => {
  expect(readKey("", "j", known)).toEqual({ kind: "run", keys: "j" });
  expect(readKey("", "g", known)).toEqual({ kind: "wait", pending: "g" });
  expect(readKey("g", "b", known)).toEqual({ kind: "run", keys: "g b" });
});

test("a key that does not go on with a pair counts for itself", () => {
  expect(readKey("g", "j", known)).toEqual({ kind: "run", keys: "j" });
  expect(readKey("g", "g", known)).toEqual({ kind: "wait", pending: "g" });
  expect(readKey("g", "x", known)).toEqual({ kind: "nothing" });
  expect(readKey("", "x", known)).toEqual({ kind: "nothing" });
});
