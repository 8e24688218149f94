import { expect, test } from "vitest";
import { readBuildSearch, readBuildsSearch, statusesOf, wordsOf } from "./search.ts";

test("an address that says nothing, or nonsense, restricts nothing", () => {
  expect(readBuildsSearch({})).toEqual({});
  expect(readBuildsSearch({ status: "", command: 5, other: "x" })).toEqual({});
  expect(readBuildSearch({ attempt: "0", line: "x", q: "" })).toEqual({});
  expect(statusesOf("green,purple")).toBeUndefined();
  expect(wordsOf(",")).toBeUndefined();
});

test("what it says is taken", () => {
  expect(readBuildSearch({ attempt: "2", line: "120", q: "//a", status: "FAILED" })).toEqual({
    attempt: 2,
    line: 120,
    q: "//a",
    status: "FAILED",
  });
  expect(statusesOf("failed,purple,running")).toEqual(["failed", "running"]);
});
