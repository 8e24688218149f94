import { expect, test } from "vitest";
import { decideOpen, type OpenAsk } from "./decide-open.ts";
import type { Candidate } from "./store.ts";

function candidate(of: Partial<Candidate> & { attempt: number }): Candidate {
  return {
    attemptId: 100 + of.attempt,
    hmac: `hmac ${of.attempt}`,
    owner: `owner ${of.attempt}`,
    buildId: "build",
    committed: 10,
    finished: false,
    endedRecently: false,
    live: false,
    swept: false,
    carry: new Uint8Array(0),
    ...of,
  };
}

function ask(of: Partial<OpenAsk> = {}): OpenAsk {
  return { owner: "new owner", first: 1, hmac: "hmac 1", buildId: "build", node: "node", ...of };
}

/** A short word for the decision: its kind and which attempt it concerns. */
function decide(opening: Partial<OpenAsk>, candidates: readonly Candidate[], resumeWithHole = false): string {
  const decision = decideOpen(ask(opening), { candidates, resumeWithHole });
  const hole =
    "hole" in decision && decision.hole ? ` hole ${decision.hole.first}-${decision.hole.last}` : "";
  switch (decision.kind) {
    case "insert":
      return `insert ${decision.attempt}${hole}`;
    case "refuse":
      return `refuse ${decision.reason}`;
    default:
      return `${decision.kind} ${decision.candidate.attempt}${hole}`;
  }
}

const later = { first: 11, hmac: "" };

test.each<[string, Partial<OpenAsk>, readonly Candidate[], string]>([
  ["1 and no attempt", {}, [], "insert 1"],
  ["1 and the same HMAC, finished", {}, [candidate({ attempt: 1, finished: true })], "finished 1"],
  ["1 and the same HMAC, unfinished", {}, [candidate({ attempt: 1 })], "take-over 1"],
  ["1 and the same HMAC, though live", {}, [candidate({ attempt: 1, live: true })], "take-over 1"],
  ["1 and only another HMAC", { hmac: "other" }, [candidate({ attempt: 1 })], "insert 2"],
  ["1 and an attempt whose event 1 is lost", { hmac: "" }, [candidate({ attempt: 1, hmac: "" })], "insert 2"],
  ["k > 1 and one that fits", later, [candidate({ attempt: 1 })], "take-over 1"],
  ["k > 1 below what is committed", { ...later, first: 5 }, [candidate({ attempt: 1 })], "take-over 1"],
  ["k > 1 and none", later, [], "refuse hole"],
  ["k > committed + 1", { ...later, first: 12 }, [candidate({ attempt: 1 })], "refuse hole"],
  [
    "k > 1 and two that fit",
    later,
    [candidate({ attempt: 1 }), candidate({ attempt: 2, committed: 30 })],
    "refuse ambiguous",
  ],
  [
    "k > 1 and two that fit, one of another build",
    later,
    [candidate({ attempt: 1, buildId: "other" }), candidate({ attempt: 2 })],
    "take-over 2",
  ],
  [
    "k > 1 and two that fit, one without a live connection",
    later,
    [candidate({ attempt: 1, live: true }), candidate({ attempt: 2 })],
    "take-over 2",
  ],
  [
    "k > 1, one that fits and one that ended long ago",
    { ...later, first: 5 },
    [candidate({ attempt: 1, finished: true }), candidate({ attempt: 2 })],
    "take-over 2",
  ],
  [
    "k > 1, one that fits and one that ended a moment ago",
    { ...later, first: 5 },
    [candidate({ attempt: 1, finished: true, endedRecently: true }), candidate({ attempt: 2 })],
    "refuse ambiguous",
  ],
  [
    "k > 1 and only finished ones: the newest",
    { ...later, first: 10 },
    [candidate({ attempt: 1, finished: true }), candidate({ attempt: 2, finished: true })],
    "finished 2",
  ],
  [
    "k > 1 behind the end of a finished one",
    later,
    [candidate({ attempt: 1, finished: true })],
    "refuse hole",
  ],
])("%s", (_, opening, candidates, expected) => {
  expect(decide(opening, candidates)).toBe(expected);
});

test("asking again with the same owner gives the same attempt, whatever else fits by now", () => {
  const mine = candidate({ attempt: 1, owner: "new owner", live: true });
  const other = candidate({ attempt: 2, committed: 50 });
  expect(decide({ ...later }, [mine, other])).toBe("take-over 1");
  expect(decide({}, [{ ...mine, finished: true }, other])).toBe("finished 1");
});

test("behind a hole a stream goes on only where that is allowed", () => {
  const behind = { ...later, first: 20 };
  expect(decide(behind, [], true)).toBe("insert 1 hole 1-19");
  expect(decide(behind, [candidate({ attempt: 1 })], true)).toBe("take-over 1 hole 11-19");
  expect(decide(behind, [candidate({ attempt: 1, finished: true })], true)).toBe("insert 2 hole 1-19");
  const both = [candidate({ attempt: 1 }), candidate({ attempt: 2 })];
  expect(decide(behind, both, true)).toBe("refuse ambiguous");
});

test("a refusal says what is stored", () => {
  const decision = decideOpen(ask({ first: 20 }), {
    candidates: [candidate({ attempt: 1 })],
    resumeWithHole: false,
  });
  expect(decision).toMatchObject({ message: expect.stringContaining("only 10") });
});
