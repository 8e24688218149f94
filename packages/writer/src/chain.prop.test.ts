import * as fc from "fast-check";
import { expect, test } from "vitest";
import { chain, type Span } from "./chain.ts";

const span: fc.Arbitrary<Span> = fc
  .record({ first: fc.integer({ min: 1, max: 12 }), length: fc.integer({ min: 1, max: 4 }) })
  .map(({ first, length }) => ({ first, last: first + length - 1 }));

test("each batch is in exactly one list, and the run begins behind the position without a hole", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8 }), fc.array(span, { maxLength: 8 }), (committed, batches) => {
      const { repeats, run, ahead, doubles, crossing } = chain(committed, batches);
      expect(new Set([...repeats, ...run, ...ahead, ...doubles, ...crossing]).size).toBe(
        new Set(batches).size,
      );
      expect(repeats.length + run.length + ahead.length + doubles.length + crossing.length).toBe(
        batches.length,
      );
      let end = committed;
      for (const batch of run) {
        expect(batch.first).toBe(end + 1);
        end = batch.last;
      }
      for (const batch of repeats) expect(batch.last).toBeLessThanOrEqual(committed);
      for (const batch of ahead) expect(batch.first).toBeGreaterThan(end + 1);
      for (const batch of crossing) {
        expect(batch.first).toBeLessThanOrEqual(committed);
        expect(batch.last).toBeGreaterThan(committed);
      }
      for (const batch of doubles) expect(batch.first).toBeLessThanOrEqual(end);
    }),
  );
});

test("the order in which batches came makes no difference", () => {
  const stream = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }).map((lengths) => {
    let last = 0;
    return lengths.map((length) => {
      const first = last + 1;
      last += length;
      return { first, last };
    });
  });
  fc.assert(
    fc.property(
      stream.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all), fc.nat(all.length))),
      ([all, some, done]) => {
        const committed = all[done - 1]?.last ?? 0;
        const shuffled = chain(committed, some);
        const sorted = chain(
          committed,
          [...some].sort((a, b) => a.first - b.first),
        );
        expect(shuffled).toEqual(sorted);
        expect(shuffled.crossing).toEqual([]);
        expect(shuffled.doubles).toEqual([]);
      },
    ),
  );
});

test("a repeat, a run, a double and a gap", () => {
  const at = (first: number, last: number): Span => ({ first, last });
  expect(chain(10, [at(21, 30), at(1, 10), at(41, 50), at(11, 20), at(11, 20), at(5, 12)])).toEqual({
    repeats: [at(1, 10)],
    run: [at(11, 20), at(21, 30)],
    ahead: [at(41, 50)],
    doubles: [at(11, 20)],
    crossing: [at(5, 12)],
  });
});
