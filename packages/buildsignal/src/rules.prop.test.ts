import fc from "fast-check";
import { expect, test } from "vitest";
import { retryDelayMs } from "./backoff.ts";
import { cadenceConfig, pollDelayMs } from "./cadence.ts";
import { compareRequestIds, requestIdOf } from "./request-id.ts";
import { claimSlot, expiredOwners, holdsSlot, releaseSlot } from "./slots.ts";
import { slotOf, stageBench } from "./stage-bench.fixture.ts";

const fraction = fc.integer({ min: 0, max: 999 }).map((n) => n / 1_000);

test("a retry's delay grows to its maximum and saturates, jitter only shortens it", () => {
  const backoff = { initialMs: 1_000, multiplier: 2, maxMs: 30_000, jitter: 0 };
  expect([1, 2, 3, 5, 6, 1_000, 1e9].map((attempt) => retryDelayMs(backoff, attempt, 0.5))).toEqual([
    1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000,
  ]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fraction, fraction, (attempt, jitter, by) => {
      const full = retryDelayMs(backoff, attempt, 0);
      const delay = retryDelayMs({ ...backoff, jitter }, attempt, by);
      expect(delay).toBeLessThanOrEqual(full);
      expect(delay).toBeGreaterThanOrEqual(Math.floor(full * (1 - jitter)));
    }),
  );
});

test("a poll's delay stays within the cadence's maximum and jitter, and is never below what is asked for", () => {
  fc.assert(
    fc.property(fc.nat(200), fraction, fc.nat(100_000), (polls, by, retryAfterMs) => {
      const cadence = cadenceConfig.parse({ growth: 1.5, max_ms: 20_000 });
      const random = { bytes: () => new Uint8Array(), uuid: () => "", fraction: () => by };
      const at = { status: "running", polls, random } as const;
      const delay = pollDelayMs(cadence, at);
      expect(delay).toBeGreaterThanOrEqual(1_800);
      expect(delay).toBeLessThanOrEqual(22_000);
      expect(pollDelayMs(cadence, { ...at, retryAfterMs })).toBe(Math.max(delay, retryAfterMs));
    }),
  );
});

test("the defaults are 5 s for accepted and 2 s for running builds", () => {
  const middle = { bytes: () => new Uint8Array(), uuid: () => "", fraction: () => 0.5 };
  const delays = (["accepted", "running"] as const).map((status) =>
    pollDelayMs(cadenceConfig.parse(undefined), { status, polls: 7, random: middle }),
  );
  expect(delays).toEqual([5_000, 2_000]);
});

test("requests are ordered by number, and an id of another queue is an error", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }), (a, b) => {
      const order = compareRequestIds("q", requestIdOf("q", a), requestIdOf("q", b));
      expect(Math.sign(order)).toBe(Math.sign(a - b));
    }),
  );
  for (const foreign of ["request/p/1", "request/q/", "request/q/01", "request/q/x", "request/qq/1", ""]) {
    expect(() => compareRequestIds("q", foreign, "request/q/1")).toThrow(/no request of the queue q/);
  }
});

test("claims and releases by owner are idempotent, and one owner's never touch another's", () => {
  const steps = fc.array(fc.record({ isClaim: fc.boolean(), owner: fc.constantFrom("a", "b", "c") }));
  fc.assert(
    fc.property(steps, (history) => {
      let queue = stageBench().putQueue();
      const owners = new Set<string>();
      for (const { isClaim, owner } of history) {
        const next = isClaim ? claimSlot(queue, slotOf(owner)) : releaseSlot(queue, { owner });
        expect(next === undefined).toBe(owners.has(owner) === isClaim);
        if (next !== undefined) expect(next.version).toBe(queue.version + 1);
        queue = next ?? queue;
        if (isClaim) owners.add(owner);
        else owners.delete(owner);
        expect(queue.slots.map((slot) => slot.owner).sort()).toEqual([...owners].sort());
        expect(holdsSlot(queue, owner)).toBe(isClaim);
      }
    }),
  );
});

test("a slot expires at its time, and a release never moves the next admission back", () => {
  const bench = stageBench();
  const queue = bench.putQueue({
    slots: [slotOf("a", { expiresAtMs: 10 }), slotOf("b", { expiresAtMs: 11 })],
    nextAdmissionAtMs: 50,
  });
  expect([9, 10, 11].map((nowMs) => expiredOwners(queue, nowMs))).toEqual([[], ["a"], ["a", "b"]]);
  expect(releaseSlot(queue, { owner: "a", nextAdmissionAtMs: 40 })?.nextAdmissionAtMs).toBe(50);
  expect(releaseSlot(queue, { owner: "a", nextAdmissionAtMs: 60 })?.nextAdmissionAtMs).toBe(60);
});
