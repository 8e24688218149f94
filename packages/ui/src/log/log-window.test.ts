import fc from "fast-check";
import { expect, test } from "vitest";
import { lineHeight, logWindow, scrollTopOf } from "./log-window.ts";

const sizes = fc.record({
  lineCount: fc.oneof(fc.nat(100), fc.nat(20_000_000)),
  viewHeight: fc.integer({ min: 50, max: 3_000 }),
});

test("what is in view is drawn, in its place, at any size", () => {
  fc.assert(
    fc.property(sizes, fc.nat(20_000_000), ({ lineCount, viewHeight }, scrollTop) => {
      const { height, first, last, top } = logWindow({ lineCount, viewHeight, scrollTop });
      expect(height).toBeLessThanOrEqual(8_000_000);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(last).toBeLessThanOrEqual(lineCount);
      expect(last - first).toBeLessThanOrEqual(viewHeight / lineHeight + 45);
      const seen = Math.min(scrollTop, Math.max(0, height - viewHeight));
      // The drawn block covers the view from its first pixel to its last, or the log ends in it.
      if (lineCount > 0) expect(top).toBeLessThanOrEqual(seen + 0.001);
      const bottom = top + (last - first) * lineHeight;
      if (last < lineCount) expect(bottom).toBeGreaterThanOrEqual(seen + viewHeight);
    }),
  );
});

test("the bottom of the scroll bar is the last line", () => {
  fc.assert(
    fc.property(sizes, ({ lineCount, viewHeight }) => {
      const { last } = logWindow({ lineCount, viewHeight, scrollTop: Number.MAX_SAFE_INTEGER });
      expect(last).toBe(lineCount);
    }),
  );
});

test("scrolling to a line brings it into view", () => {
  fc.assert(
    fc.property(sizes, fc.double({ min: 0, max: 1, noNaN: true }), ({ lineCount, viewHeight }, share) => {
      if (lineCount === 0) return;
      const line = Math.floor(share * (lineCount - 1));
      const { first, last } = logWindow({
        lineCount,
        viewHeight,
        scrollTop: scrollTopOf(line, { lineCount, viewHeight }),
      });
      expect(line).toBeGreaterThanOrEqual(first);
      expect(line).toBeLessThan(last);
    }),
  );
});
