import { expect, test } from "vitest";
import { type ClaimedFact, type FactStream, type OutboxStore, relayOnce } from "./outbox-relay.ts";

function fact(id: number): ClaimedFact {
  return { id, subject: "s", json: "{}", messageId: `m${id}` };
}

/** An outbox with unpublished facts 1 … `count`, and what was done to them. */
function outboxOf(count: number) {
  const done: string[] = [];
  const outbox: OutboxStore = {
    claim: async (limit) => Array.from({ length: Math.min(limit, count) }, (_, index) => fact(index + 1)),
    markPublished: async (ids, stream) => void done.push(`published ${ids.join()} to ${stream}`),
    giveBack: async (ids) => void done.push(`gave back ${ids.join()}`),
    requeueOthers: async () => 0,
    prune: async () => {},
  };
  return { outbox, done };
}

const stream = (taken: (fact: { messageId: string }) => Promise<void>): FactStream => ({
  identity: async () => "made at noon",
  publish: taken,
});

test("what the stream took is marked with the stream", async () => {
  const { outbox, done } = outboxOf(2);
  expect(await relayOnce({ outbox, stream: stream(async () => {}) })).toBe(2);
  expect(done).toEqual(["published 1,2 to made at noon"]);
});

test("what it did not take is given back, and what it took is marked all the same", async () => {
  const { outbox, done } = outboxOf(3);
  const taking = stream(async ({ messageId }) => {
    if (messageId === "m2") throw new Error("no answer");
  });
  await expect(relayOnce({ outbox, stream: taking })).rejects.toThrow("no answer");
  expect(done).toEqual(["published 1,3 to made at noon", "gave back 2"]);
});

test("without JetStream everything is given back", async () => {
  const { outbox, done } = outboxOf(2);
  const away: FactStream = { identity: () => Promise.reject(new Error("away")), publish: async () => {} };
  await expect(relayOnce({ outbox, stream: away })).rejects.toThrow("away");
  expect(done).toEqual(["gave back 1,2"]);
});
