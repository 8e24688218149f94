import type { ITargetRow } from "@millrace/proto/pipeline";
import * as fc from "fast-check";

const text = fc.option(fc.constantFrom("x", "y", "z"), { nil: null });

/** What events say about one target. */
export const targetRows: fc.Arbitrary<ITargetRow> = fc.record({
  label: fc.constant("//a"),
  aspect: fc.constant(""),
  configuration: fc.constant("c"),
  status: fc.integer({ min: 0, max: 5 }),
  targetKind: text,
  testSize: fc.option(fc.integer({ min: 0, max: 5 }), { nil: null }),
  tags: fc.array(fc.constantFrom("p", 'q "r" \\ {s},', ""), { maxLength: 2 }),
  failureMessage: text,
  abortReason: text,
  completedAtMs: fc.option(fc.integer({ min: 0, max: 1_900_000_000_000 }), { nil: null }),
});
