import { noFailPoints } from "@millrace/base/fail-points";
import { expect, test } from "vitest";
import { type FactStream, type OutboxStore, relayOnce, type UnpublishedFact } from "./outbox-relay.ts";

function fact(id: number): UnpublishedFact {
  return { id, subject: "s", json: "{}", messageId: `m${id}` };
}

/** An outbox with unpublished facts 1 … `count`, and what was noted about them. */
function outboxOf(count: number) {
  const noted: string[] = [];
  const outbox: OutboxStore = {
    relay: async (limit, publish) => {
      const facts = Array.from({ length: Math.min(limit, count) }, (_, index) => fact(index + 1));
      const { ids, stream } = await publish(facts);
      noted.push(`${ids.join()} taken by ${stream}`);
      return facts.length;
    },
    requeueOthers: async () => 0,
    prune: async () => {},
  };
  return { outbox, noted };
}

const stream = (taken: (fact: { messageId: string }) => Promise<void>): FactStream => ({
  identity: async () => "made at noon",
  publish: taken,
});

test("what the stream took is noted with the stream", async () => {
  const { outbox, noted } = outboxOf(2);
  expect(await relayOnce({ points: noFailPoints, outbox, stream: stream(async () => {}) })).toBe(2);
  expect(noted).toEqual(["1,2 taken by made at noon"]);
});

test("what it did not take stays, what it took is noted all the same, and the failure is told", async () => {
  const { outbox, noted } = outboxOf(3);
  const taking = stream(async ({ messageId }) => {
    if (messageId === "m2") throw new Error("no answer");
  });
  await expect(relayOnce({ points: noFailPoints, outbox, stream: taking })).rejects.toThrow("no answer");
  expect(noted).toEqual(["1,3 taken by made at noon"]);
});

test("without JetStream nothing is noted", async () => {
  const { outbox, noted } = outboxOf(2);
  const away: FactStream = { identity: () => Promise.reject(new Error("away")), publish: async () => {} };
  await expect(relayOnce({ points: noFailPoints, outbox, stream: away })).rejects.toThrow("away");
  expect(noted).toEqual([]);
});
