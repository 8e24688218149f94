import { MillraceError } from "@millrace/base/errors";
import { expect, test } from "vitest";
import { classifyFailure, databaseFailure, lacksPartition, sqlState } from "./errors.ts";
import { commitInDoubt, isInDoubt } from "./in-doubt.ts";

function error(code: string, more: object = {}): Error {
  return Object.assign(new Error(code), { code }, more);
}

test.each([
  ["21000", "data"],
  ["22021", "data"],
  ["23505", "data"],
  ["54000", "data"],
  ["42P01", "schema"],
  ["42501", "schema"],
  ["08006", "retry"],
  ["25P02", "retry"],
  ["40001", "retry"],
  ["40P01", "retry"],
  ["53100", "retry"],
  ["55P03", "retry"],
  ["57014", "retry"],
  ["57P01", "retry"],
  ["58030", "retry"],
  ["EPIPE", "retry"],
  ["ECONNRESET", "retry"],
  ["CONNECTION_CLOSED", "retry"],
  ["XX000", "retry"],
] as const)("%s asks for %s", (code, kind) => {
  expect(classifyFailure(error(code))).toBe(kind);
});

test("EPIPE is no SQLSTATE though it looks like one", () => {
  expect(sqlState(error("EPIPE"))).toBe("");
  expect(sqlState(error("22021"))).toBe("22021");
});

test("the cause of a wrapped error counts", () => {
  const wrapped = new Error("Failed query", { cause: error("23505", { constraint_name: "c" }) });
  expect([sqlState(wrapped), classifyFailure(wrapped)]).toEqual(["23505", "data"]);
});

test("a missing partition is housekeeping's fault, a violated check the values'", () => {
  expect(lacksPartition(error("23514"))).toBe(true);
  expect(classifyFailure(error("23514"))).toBe("retry");
  expect(classifyFailure(error("23514", { constraint_name: "positive" }))).toBe("data");
});

test("what is classified already passes unchanged", () => {
  const doubt = commitInDoubt(error("ECONNRESET"));
  expect(databaseFailure(doubt)).toBe(doubt);
  expect([isInDoubt(doubt), isInDoubt(error("57P01")), doubt.remedy]).toEqual([true, false, "retry"]);
});

test("a failure keeps its SQLSTATE as its code and says what to do", () => {
  expect(databaseFailure(error("22021"))).toMatchObject({ remedy: "reject", code: "22021" });
  expect(databaseFailure(error("42P01"))).toMatchObject({ remedy: "reject", code: "42P01" });
  expect(databaseFailure(error("ECONNREFUSED"))).toMatchObject({ remedy: "retry", code: "database-away" });
  expect(databaseFailure(new Error("?"))).toBeInstanceOf(MillraceError);
});
