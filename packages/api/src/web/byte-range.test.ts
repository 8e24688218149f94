import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentRange, parseRange } from "./byte-range.ts";

describe("a Range header of 100 bytes", () => {
  test.each([
    ["bytes=0-0", { kind: "part", from: 0, to: 1 }],
    ["bytes=10-19", { kind: "part", from: 10, to: 20 }],
    ["bytes=90-", { kind: "part", from: 90, to: 100 }],
    ["bytes=90-500", { kind: "part", from: 90, to: 100 }],
    ["bytes=-1", { kind: "part", from: 99, to: 100 }],
    ["bytes=-500", { kind: "part", from: 0, to: 100 }],
    ["bytes=100-", { kind: "unsatisfiable" }],
    ["bytes=-0", { kind: "unsatisfiable" }],
    ["bytes=20-10", { kind: "whole" }],
    ["bytes=0-1,5-6", { kind: "whole" }],
    ["lines=0-1", { kind: "whole" }],
    ["bytes=-", { kind: "whole" }],
    ["", { kind: "whole" }],
    [undefined, { kind: "whole" }],
  ])("%s", (header, expected) => {
    expect(parseRange(header, 100)).toEqual(expected);
  });

  test("of nothing cannot be satisfied", () => {
    expect(parseRange("bytes=0-", 0)).toEqual({ kind: "unsatisfiable" });
    expect(parseRange("bytes=-5", 0)).toEqual({ kind: "unsatisfiable" });
  });

  test("whatever is sent, a part lies inside", () => {
    const header = fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(300), fc.nat(300)).map(([a, b]) => `bytes=${a}-${b}`),
      fc.nat(300).map((a) => `bytes=-${a}`),
    );
    fc.assert(
      fc.property(header, fc.nat(200), (text, total) => {
        const range = parseRange(text, total);
        if (range.kind !== "part") return;
        expect(range.from).toBeGreaterThanOrEqual(0);
        expect(range.to).toBeGreaterThan(range.from);
        expect(range.to).toBeLessThanOrEqual(total);
      }),
    );
  });

  test("Content-Range names the last byte, not the one after it", () => {
    expect(contentRange({ from: 10, to: 20 }, 100)).toBe("bytes 10-19/100");
  });
});
