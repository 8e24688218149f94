import { AssertionFailure } from "@millrace/base/assert";
import { MillraceError } from "@millrace/base/errors";
import { commitInDoubt } from "@millrace/db/in-doubt";
import { expect, test } from "vitest";
import { judgeFailure } from "./salvage.ts";
import { batchWork, openWork, taskOf } from "./works.fixture.ts";

const rows = { targets: [{ label: "//a" }] };
const withRows = taskOf(batchWork({ attemptId: 1, first: 1, last: 1, rows }));
const stripped = { ...withRows, withoutRows: { sqlState: "22021", message: "bad" } };
const bare = taskOf(batchWork({ attemptId: 1, first: 1, last: 1 }));
const open = taskOf(openWork({ first: 5 }));

function failure(remedy: "retry" | "reject", code: string): MillraceError {
  return new MillraceError({ remedy, code, message: code });
}

test.each([
  ["a COMMIT in doubt is tried again", commitInDoubt(), [bare], "again"],
  ["so is whatever the world is to blame for", failure("retry", "57P01"), [withRows, bare], "again"],
  ["bad data among several are looked for", failure("reject", "22021"), [withRows, bare], "halve"],
  ["a guilty batch loses its rows", failure("reject", "23514"), [withRows], "strip"],
  ["without them it is rejected", failure("reject", "23514"), [stripped], "reject"],
  ["one that has none is rejected", failure("reject", "54000"), [bare], "reject"],
  ["so is an open", failure("reject", "22021"), [open], "reject"],
  ["a schema that does not fit is waited for", failure("reject", "42P01"), [stripped], "wait"],
  ["but first the rows may be to blame", failure("reject", "42804"), [withRows], "strip"],
  ["our own fault is its batch's fault", new TypeError("x is not a function"), [withRows, bare], "halve"],
] as const)("%s", (_, error, tasks, expected) => {
  expect(judgeFailure(error, tasks)).toBe(expected);
});

test("a broken invariant is nobody's to salvage", () => {
  expect(() => judgeFailure(new AssertionFailure("a claim"), [bare])).toThrow(AssertionFailure);
});
