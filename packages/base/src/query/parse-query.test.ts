import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matcherOf, type QueryRecord } from "./match-query.ts";
import { parseQuery } from "./parse-query.ts";
import type { Field } from "./query.ts";

const fields: Field[] = [
  { name: "status", kind: "choice", choices: ["failed", "flaky", "succeeded"], about: "", example: "" },
  { name: "user", kind: "text", about: "", example: "" },
  { name: "commit", kind: "text", byPrefix: true, about: "", example: "" },
  { name: "pattern", kind: "text", about: "", example: "" },
  { name: "exit", kind: "number", about: "", example: "" },
  { name: "duration", kind: "duration", about: "", example: "" },
  { name: "started", kind: "time", about: "", example: "" },
];
const now = Date.parse("2026-12-01T12:00:00Z");

const record: QueryRecord = {
  texts: { status: ["failed"], user: ["alan"], commit: ["3fa9c1"], pattern: ["//app/...", "//lib:all"] },
  numbers: { exit: 3, duration: 300_000, started: now - 3_600_000 },
  free: ["alan", "Release Büro", null],
};

function holds(text: string): boolean {
  const parsed = parseQuery(text, fields);
  if (parsed.kind === "fault") throw new Error(`${text}: ${parsed.fault.message}`);
  return matcherOf(parsed.query)(record, now);
}

describe("what a query says of a record", () => {
  test.each([
    "",
    "  ",
    "status:failed",
    "STATUS:Failed",
    "status:flaky,failed",
    "-status:succeeded",
    "!status:succeeded",
    "user:alan",
    "user:al*",
    "user:*a*n",
    "user:/^al/",
    "user:/ALAN/i",
    'user:"alan"',
    "commit:3fa",
    "pattern://app/...",
    "pattern:/lib:a/",
    "exit:3",
    "exit:1,3",
    "exit:>2",
    "exit:<=3",
    "exit:1..5",
    "exit:3..",
    "exit:-4..*",
    "duration:5m",
    "duration:>=5m",
    "duration:>4m59s",
    "duration:4m..6m",
    "started:<2h",
    "started:>30m",
    "started:2026-12-01",
    "started:>=2026-12-01T11:00Z",
    "started:>2026-11-30",
    "started:2026-11-01..2026-12-01",
    "has:user",
    "-has:branchless OR has:user".replace("branchless", "exit"),
    "release",
    "RELEASE alan",
    '"release b"',
    "NOT nobody",
    "(status:failed OR exit:0) user:alan",
    "-(status:failed exit:0)",
    "status:failed AND user:alan",
  ])("%s holds", (text) => {
    expect(holds(text)).toBe(true);
  });

  test.each([
    "status:flaky",
    "-status:failed",
    "user:Alan",
    "user:al",
    "user:*b*",
    'user:"al*"',
    "user:/^l/",
    "commit:fa9",
    "pattern://app",
    "exit:>3",
    "exit:4..9",
    "duration:<5m",
    "started:>2h",
    "started:<2026-12-01",
    "-has:user",
    "nobody",
    "-release",
    "status:failed user:ben",
    "-(status:failed OR exit:0)",
    "BÜRO release",
  ])("%s does not hold", (text) => {
    expect(holds(text)).toBe(false);
  });
});

describe("what is no query is a fault that says where", () => {
  test.each([
    ["status:green", 7, 12, "status is one of failed, flaky, succeeded"],
    ["user:ann stutus:failed", 9, 15, "there is no field stutus"],
    ["user:", 5, 6, "needs a value"],
    ["user:ann,", 9, 10, "needs a value"],
    ['user:"ann', 5, 9, "not closed"],
    ['user:""', 5, 7, "nothing between"],
    ["user:/ann", 5, 9, "ends with a slash"],
    ["user:/a(b/", 9, 10, "not closed"],
    ["user:/a**/", 8, 9, "doubled"],
    ["user:/(?=a)/", 8, 9, "look-around"],
    ["user:/a\\1/", 8, 9, "\\1 is not supported"],
    ["user:/a/x", 8, 9, "only the flag i"],
    ["user:/(a{100}){100}/", 19, 20, "too large"],
    ["exit:two", 5, 8, "no whole number"],
    ["exit:>99999999999999999", 6, 23, "no whole number"],
    ["exit:5..1", 5, 9, "smaller value"],
    ["exit:/1/", 5, 8, "no regular expression"],
    ["duration:>5x", 10, 12, "no duration"],
    ["started:soon", 8, 12, "no time"],
    ["started:2026-02-31", 8, 18, "no time"],
    ["started:<2d,2026-11-30", 12, 22, "one list"],
    ["has:nothing", 4, 11, "no field nothing"],
    ["(status:failed", 14, 15, "not closed"],
    ["status:failed)", 13, 14, "no opening"],
    ["status:failed OR", 16, 17, "missing"],
    ["OR status:failed", 0, 1, "missing"],
    ["-", 1, 2, "missing"],
    ["--a", 2, 3, "one sign"],
    ["()", 1, 2, "missing"],
    ['"a\nb"', 0, 5, "on one line"],
    ["a\u0000", 1, 2, "control"],
    ["\ud800", 0, 1, "in half"],
    ["(".repeat(30), 21, 22, "too deeply"],
    ["a ".repeat(70), 120, 121, "at most 60"],
    ["x".repeat(2_001), 2_000, 2_001, "at most 2000"],
  ])("%s", (text, from, to, message) => {
    const parsed = parseQuery(text, fields);
    expect(parsed).toEqual({ kind: "fault", fault: { from, to, message: expect.stringContaining(message) } });
  });
});

test("any text is a query or a fault within it", () => {
  const pieces = fc.constantFrom(
    "status:",
    "user:",
    "exit:",
    "started:",
    "-",
    "(",
    ")",
    "OR",
    "AND",
    "NOT",
    " ",
    ",",
    "/",
    '"',
    "*",
    "..",
    ">",
    "<",
    "2d",
    "5",
    "a",
    "\\",
    "[",
    "{2}",
    "é",
    "😀",
    "\ud83d",
    "\n",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(pieces, { maxLength: 15 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseQuery(text, fields);
      if (parsed.kind === "query") matcherOf(parsed.query)(record, now);
      else {
        expect(parsed.fault.from).toBeGreaterThanOrEqual(0);
        expect(parsed.fault.from).toBeLessThanOrEqual(text.length);
        expect(parsed.fault.to).toBeGreaterThan(parsed.fault.from);
      }
    }),
    { numRuns: 2_000 },
  );
});
