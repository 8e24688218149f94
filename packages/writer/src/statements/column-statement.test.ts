import { expect, test } from "vitest";
import { arrayLiteral, hexOf, storable, storableJson } from "./column-statement.ts";

test("NUL becomes visible, everything else stays", () => {
  expect(storable("a\u0000b\u0000")).toBe("a\ufffdb\ufffd");
  expect(storable("ä\n\u0001")).toBe("ä\n\u0001");
});

test("JSON holds nothing that jsonb refuses, and keeps what only looks like it", () => {
  const json = storableJson([{ name: "a\u0000", uri: "\ud800 \\u0000" }]);
  expect(json).not.toMatch(/(?<!\\)\\u(0000|d800)/);
  expect(JSON.parse(json)).toEqual([{ name: "a\ufffd", uri: "\ufffd \\u0000" }]);
});

test("an array literal quotes what PostgreSQL would read as syntax; an empty list is null", () => {
  expect(arrayLiteral(["a", 'b "c" \\', "{d,e}", ""])).toBe('{"a","b \\"c\\" \\\\","{d,e}",""}');
  expect([arrayLiteral([]), arrayLiteral(null), arrayLiteral(undefined)]).toEqual([null, null, null]);
});

test("bytes as hex, also of a part of a buffer", () => {
  expect(hexOf(Uint8Array.of(0, 1, 255).subarray(1))).toBe("01ff");
});
