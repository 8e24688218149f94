import { expect, test } from "vitest";
import { at, jsonPointer, textAt } from "./pointer.ts";

const document = { a: [{ b: "x" }, 7], "a/b": { "m~n": true }, empty: "", none: null, "": "nameless" };

test.each([
  ["", document],
  ["/a/0/b", "x"],
  ["/a/1", 7],
  ["/a~1b/m~0n", true],
  ["/", "nameless"],
  ["/a/01", undefined],
  ["/a/2", undefined],
  ["/a/length", undefined],
  ["/none/deeper", undefined],
  ["/toString", undefined],
  ["/a/0/b/0", undefined],
])("%j points at its value", (pointer, expected) => {
  expect(at(document, pointer)).toEqual(expected);
});

test.each([
  ["/a/0/b", "x"],
  ["/a/1", "7"],
  ["/a~1b/m~0n", "true"],
  ["/empty", undefined],
  ["/none", undefined],
  ["/a", undefined],
])("%j as text is %j", (pointer, expected) => {
  expect(textAt(document, pointer)).toBe(expected);
});

test("what is no pointer is refused", () => {
  expect(["", "/a/0", "/a~1b"].every((text) => jsonPointer.safeParse(text).success)).toBe(true);
  expect(["a", "a/b", "/a~2", "/~"].some((text) => jsonPointer.safeParse(text).success)).toBe(false);
});
