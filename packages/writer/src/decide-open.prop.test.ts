import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decideOpen, type OpenAsk } from "./decide-open.ts";
import type { Candidate } from "./store.ts";

const word = fc.constantFrom("a", "b", "c", "d");

const candidates: fc.Arbitrary<Candidate[]> = fc
  .array(
    fc.record({
      hmac: word,
      owner: word,
      buildId: fc.constantFrom("", "x", "y"),
      committed: fc.integer({ min: 0, max: 6 }),
      finished: fc.boolean(),
      endedRecently: fc.boolean(),
      live: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  .map((all) =>
    all.map((one, index) => ({
      ...one,
      owner: `${one.owner}${index}`,
      live: one.live && !one.finished,
      attemptId: index + 1,
      attempt: index + 1,
      swept: false,
      carry: new Uint8Array(0),
    })),
  );

const asks: fc.Arbitrary<OpenAsk> = fc
  .record({
    owner: fc.constantFrom("a0", "b1", "new"),
    first: fc.integer({ min: 1, max: 7 }),
    hmac: word,
    buildId: fc.constantFrom("", "x", "y"),
    node: fc.constant("node"),
  })
  .map((ask) => ({ ...ask, hmac: ask.first === 1 ? ask.hmac : "" }));

test("no attempt is given to whom it does not fit", () => {
  fc.assert(
    fc.property(asks, candidates, (ask, all) => {
      const decision = decideOpen(ask, { candidates: all, resumeWithHole: false });
      if (decision.kind === "refuse") return;
      if (decision.kind === "insert") {
        expect(ask.first).toBe(1);
        expect(all.map((one) => one.attempt)).not.toContain(decision.attempt);
        return;
      }
      const { candidate } = decision;
      expect(candidate.finished).toBe(decision.kind === "finished");
      if (candidate.owner === ask.owner) return;
      if (ask.first === 1) expect(candidate.hmac).toBe(ask.hmac);
      else expect(ask.first).toBeLessThanOrEqual(candidate.committed + 1);
    }),
  );
});

test("once decided it stays decided: the same ask finds what it was given", () => {
  fc.assert(
    fc.property(asks, candidates, fc.integer({ min: 0, max: 3 }), (ask, all, moved) => {
      const decision = decideOpen(ask, { candidates: all, resumeWithHole: true });
      if (decision.kind !== "take-over") return;
      const { attempt } = decision.candidate;
      const later = all.map((one) =>
        one.attempt === attempt
          ? { ...one, owner: ask.owner, live: true, committed: one.committed + moved }
          : { ...one, live: false },
      );
      const again = decideOpen(ask, { candidates: later, resumeWithHole: true });
      expect(again).toMatchObject({ kind: "take-over", candidate: { attempt } });
    }),
  );
});

test("with holes allowed nobody is refused for one", () => {
  fc.assert(
    fc.property(asks, candidates, (ask, all) => {
      const decision = decideOpen(ask, { candidates: all, resumeWithHole: true });
      expect(decision).not.toMatchObject({ kind: "refuse", reason: "hole" });
    }),
  );
});
