import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Clock, systemClock } from "@millrace/base/clock";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planRetention } from "../maintain/retention.ts";
import { cursorContext, decodeCursor, encodeCursor } from "./cursor.ts";
import { lockHolder, tryLock } from "./lease-lock.ts";
import { livenessOf, ownIdentity } from "./liveness.ts";
import type { Entry } from "./record-index.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "millrace-mcp-parts-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("a cursor comes back as it went, for its own query only", () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 4 }), fc.string(), (numbers, filter) => {
      const context = cursorContext(["view", "id", filter]);
      const text = encodeCursor("bytes", { context, numbers });
      expect(text).toMatch(/^[\w-]+$/);
      expect(decodeCursor("bytes", { context, text, count: numbers.length })).toEqual(numbers);
      expect(decodeCursor("ordinal", { context, text, count: numbers.length })).toBeUndefined();
      const other = cursorContext(["view", "id", `${filter}x`]);
      expect(decodeCursor("bytes", { context: other, text, count: numbers.length })).toBeUndefined();
    }),
  );
});

test("parts of a query cannot be shifted into each other", () => {
  expect(cursorContext(["ab", "c"]).equals(cursorContext(["a", "bc"]))).toBe(false);
});

test.each(["", "AQ", "!!!!", "AQQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])(
  "%s is no cursor",
  (text) => {
    expect(decodeCursor("bytes", { context: cursorContext(["a"]), text, count: 3 })).toBeUndefined();
  },
);

const lock = (purpose: string) =>
  tryLock({ directory: path.join(directory, "lock"), purpose, clock: systemClock });

test("a lock is held by one, told to others, and free after release", () => {
  const first = lock("one");
  expect(first.kind).toBe("held");
  const second = lock("two");
  expect(second.kind === "busy" && second.holder.purpose).toBe("one");
  if (first.kind === "held") first.lock.release();
  expect(lockHolder(path.join(directory, "lock"), systemClock)).toBeUndefined();
  expect(lock("two").kind).toBe("held");
});

test("the lock of a dead process is taken over", () => {
  const first = lock("one");
  expect(first.kind).toBe("held");
  const dead = { ...ownIdentity(), started: "1", purpose: "dead", acquired_at_ms: 0 };
  writeFileSync(path.join(directory, "lock", "7"), JSON.stringify(dead));
  expect(lock("two").kind).toBe("held");
});

/** A clock by which `action` happens while a contender is between looking at the lock and taking it. */
function clockThat(action: () => void): Clock {
  let isDone = false;
  return {
    ...systemClock,
    now: () => {
      if (!isDone) {
        isDone = true;
        action();
      }
      return systemClock.now();
    },
  };
}

test.each([
  ["taken", ["hold"]],
  ["taken, given back and taken again", ["take", "hold"]],
  ["taken and given back twice and taken again", ["take", "take", "hold"]],
])("a contender that stalls does not steal a lock that was %s meanwhile", (_name, steps) => {
  mkdirSync(path.join(directory, "lock"));
  const dead = { ...ownIdentity(), started: "1", purpose: "dead", acquired_at_ms: 0 };
  writeFileSync(path.join(directory, "lock", "7"), JSON.stringify(dead));
  const late = tryLock({
    directory: path.join(directory, "lock"),
    purpose: "late",
    clock: clockThat(() => {
      for (const step of steps) {
        const taken = lock(step);
        expect(taken.kind).toBe("held");
        if (step === "take" && taken.kind === "held") taken.lock.release();
      }
    }),
  });
  expect(late.kind === "busy" && late.holder.purpose).toBe("hold");
});

test("a contender that stalls gets a lock that is free again", () => {
  const clock = clockThat(() => {
    const taken = lock("take");
    if (taken.kind === "held") taken.lock.release();
  });
  expect(tryLock({ directory: path.join(directory, "lock"), purpose: "late", clock }).kind).toBe("held");
  expect(lock("other").kind).toBe("busy");
});

test("a process is told by its start time, not by its number alone", () => {
  expect(livenessOf(ownIdentity())).toBe("alive");
  expect(livenessOf({ ...ownIdentity(), started: "12345" })).toBe("dead");
  expect(livenessOf({ ...ownIdentity(), place: "elsewhere x y" })).toBe("elsewhere");
});

function entry(at: Partial<Entry> & { id: string }): Entry {
  return {
    ...{ requestedAtMs: 0, finishedAtMs: 0, payloadBytes: 1000, state: "succeeded", command: "build" },
    ...{ workspace: "/ws", owner: "o", protectedUntilMs: 0, hasEvidence: true },
    ...at,
  };
}

test("a snapshot comes back as it was, and a damaged one not at all", () => {
  const id = "01a22f3e-068d-75ba-a603-23f986a7cdb3";
  const entries = [entry({ id, state: "timed_out", hasEvidence: false, requestedAtMs: 5, workspace: "/é" })];
  const file = path.join(directory, "index.snapshot");
  const snapshot = {
    journals: new Map([[id, 32]]),
    shards: new Map([["0/1", 123456789012345678n]]),
    entries,
  };
  writeSnapshot(file, snapshot);
  expect(readSnapshot(file)).toEqual(snapshot);
  writeFileSync(file, Buffer.concat([Buffer.from("millrace-index-1\n{}\n"), Buffer.alloc(3)]));
  expect(readSnapshot(file)).toBeUndefined();
});

const hour = 3_600_000;
const settings = {
  retentionDays: 7,
  successEvidenceHours: 24,
  failureEvidenceHours: 168,
  maximumStorageBytes: 1e9,
};

test("retention: old records go, live and protected ones stay, raw output goes by outcome", () => {
  const nowMs = new ScriptedClock().now() + 1000 * hour;
  const ago = (hours: number): number => nowMs - hours * hour;
  const plan = planRetention(
    [
      entry({ id: "old", finishedAtMs: ago(200) }),
      entry({ id: "protected", finishedAtMs: ago(200), protectedUntilMs: nowMs + 1 }),
      entry({ id: "live", state: "running", finishedAtMs: 0 }),
      entry({ id: "green", finishedAtMs: ago(30) }),
      entry({ id: "red", state: "failed", finishedAtMs: ago(30) }),
    ],
    { settings, nowMs },
  );
  expect(plan.remove).toEqual(["old"]);
  expect([...plan.expireEvidence].sort()).toEqual(["green", "protected"]);
});

test("retention by size takes the oldest down to the low-water mark and no live one", () => {
  const entries = Array.from({ length: 100 }, (_, index) =>
    entry({
      id: String(index),
      finishedAtMs: 1,
      payloadBytes: 6000,
      state: index === 0 ? "running" : "failed",
    }),
  );
  const plan = planRetention(entries, { settings: { ...settings, maximumStorageBytes: 500_000 }, nowMs: 2 });
  expect(plan.remove).not.toContain("0");
  expect(plan.remove[0]).toBe("1");
  const kept = (100 - plan.remove.length) * (6000 + 4096);
  expect(kept).toBeLessThanOrEqual(400_000);
});
