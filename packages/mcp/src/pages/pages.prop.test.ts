import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createRedactor, redacted } from "../redact/redactor.ts";
import { countNewlines } from "./count-lines.ts";
import { CaseFolder } from "./fold-case.ts";
import { asciiLower, createFilter } from "./match.ts";
import { countRows, fileStart, type RowPosition, readRows } from "./row-page.ts";

const directory = mkdtempSync(path.join(tmpdir(), "millrace-mcp-pages-"));
const file = path.join(directory, "rows");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function walk(filter: string | undefined, limit: number): string[] {
  const rows: string[] = [];
  let from: RowPosition | undefined = fileStart;
  while (from !== undefined) {
    const page: ReturnType<typeof readRows> = readRows({
      path: file,
      from,
      limit,
      filter: filter === undefined ? undefined : createFilter(filter, { caseSensitive: false }),
      redact: (line) => line,
      timeBudgetMs: 1000,
      clock: systemClock,
    });
    for (const row of page.rows) rows.push(`${row.ordinal} ${row.value}`);
    from = page.next;
  }
  return rows;
}

test("newlines are counted as a simple loop counts them, at any alignment", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0x0a, 0x0b, 0x8a, 0x00, 0x61)), fc.nat(7), (bytes, offset) => {
      const whole = new Uint8Array([...new Array<number>(offset).fill(0x0a), ...bytes]);
      const view = whole.subarray(offset);
      expect(countNewlines(view)).toBe(bytes.filter((byte) => byte === 0x0a).length);
    }),
  );
});

const line = fc.string({ unit: fc.constantFrom("a", "B", "é", "/", ":", "x"), maxLength: 12 });

test("every line comes once, in order, whatever the page size, with and without a filter", () => {
  fc.assert(
    fc.property(fc.array(line), fc.boolean(), fc.integer({ min: 1, max: 7 }), (lines, ends, limit) => {
      writeFileSync(file, lines.join("\n") + (ends && lines.length > 0 ? "\n" : ""));
      const text = lines.join("\n") + (ends && lines.length > 0 ? "\n" : "");
      const expected = text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
      expect(walk(undefined, limit)).toEqual(expected.map((one, index) => `${index} ${one}`));
      expect(countRows(file)).toBe(expected.length);
      const wanted = expected
        .map((one, index) => ({ one, index }))
        .filter(({ one }) => one.toLowerCase().includes("ab"));
      expect(walk("aB", limit)).toEqual(wanted.map(({ one, index }) => `${index} ${one}`));
    }),
    { numRuns: 60 },
  );
});

test("a filter whose run of digits is searched exactly still ignores the case of its letters", () => {
  writeFileSync(file, "//A:target_0001\n//a:TARGET_0002\n//a:other_0002\n");
  expect(walk("target_0002", 10)).toEqual(["1 //a:TARGET_0002"]);
});

test("lines longer than a chunk are cut and passed over", () => {
  writeFileSync(file, `short\n${"y".repeat(3 << 20)}needle\nlast needle\n`);
  expect(walk(undefined, 10).map((row) => row.slice(0, 8))).toEqual(["0 short", "1 yyyyyy", "2 last n"]);
  expect(walk("last", 10)).toEqual(["2 last needle"]);
});

test.each([
  ["//pkg/...", ["//pkg:a", "//pkg/sub:b"], ["//pkgs:a", "//other:a"]],
  ["//...", ["//pkg:a", "//:b"], ["@repo//a:b"]],
  ["//pkg:*_test", ["//pkg:a_test"], ["//pkg:a", "//pkg/sub:a_test"]],
  ["//pkg:all", ["//pkg:a"], ["//pkg/sub:a"]],
  ["//*/b:c", ["//a/b:c"], ["//a/x/b:c"]],
])("the glob %s", (glob, yes, no) => {
  const filter = createFilter(glob, { caseSensitive: false });
  expect(yes.map((one) => filter.matches(one))).toEqual(yes.map(() => true));
  expect(no.map((one) => filter.matches(one))).toEqual(no.map(() => false));
});

test("a filter cannot probe what is redacted, and can find the mark itself", () => {
  writeFileSync(file, "ok\nAuthorization: Bearer abcdefgh12345678\n");
  const redact = createRedactor([]).text;
  const find = (text: string): readonly string[] =>
    readRows({
      path: file,
      from: fileStart,
      limit: 10,
      filter: createFilter(text, { caseSensitive: false }),
      redact,
      timeBudgetMs: 1000,
      clock: systemClock,
    }).rows.map((row) => row.value);
  expect(find("abcdefgh")).toEqual([]);
  expect(find("redacted")).toHaveLength(1);
  expect(find(`n: ${redacted}`)).toHaveLength(1);
});

test("lowering bytes four at a time is lowering each ASCII letter", () => {
  const folder = new CaseFolder(64);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (input) => {
      const expected = input.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte));
      expect([...folder.fold(Buffer.from(input))]).toEqual([...expected]);
    }),
  );
  const every = new CaseFolder(256).fold(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
  expect(every.toString("latin1")).toBe(
    Array.from({ length: 256 }, (_, byte) => asciiLower(String.fromCharCode(byte))).join(""),
  );
});
