import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import { forgetAfterMs, Inbox, type InboxLimits } from "./inbox.ts";
import type { InboxItem } from "./inbox-flow.ts";
import type { Reply } from "./work.ts";
import { type BatchOptions, batchWork, openWork, releaseWork } from "./works.fixture.ts";

const roomy: InboxLimits = { inboxBytesMax: 1_000_000, groupBytesMax: 1_000_000, groupBatchesMax: 100 };

/** Bytes of `batchWork` with one-digit numbers: its segment and 256 for itself. */
const batchBytes = "events 1 to 1".length + 256;

function setUp(limits: Partial<InboxLimits> = {}) {
  const clock = new ScriptedClock();
  const inbox = new Inbox({ ...roomy, ...limits }, clock);
  const replies: Reply[] = [];
  const offer = (options: Partial<BatchOptions> = {}): boolean =>
    inbox.offer(batchWork({ attemptId: 1, first: 1, last: 1, ...options }), (reply) => replies.push(reply));
  return { clock, inbox, replies, offer };
}

async function take(inbox: Inbox): Promise<readonly InboxItem[]> {
  const group = await inbox.takeGroup();
  if (group === undefined) throw new Error("the inbox is drained");
  return group;
}

/** What is in a group, e.g. `project/invocation 11`. */
function names(group: readonly InboxItem[]): string[] {
  return group.map(({ work }) =>
    work.kind === "batch"
      ? `${work.key.project}/${work.key.invocationId} ${work.first}`
      : `${work.kind} ${work.kind === "open" ? work.key.invocationId : work.attemptId}`,
  );
}

/** True when a group comes without anything more happening. */
async function hasGroup(inbox: Inbox): Promise<boolean> {
  const taken = inbox.takeGroup().then(() => true);
  return Promise.race([taken, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

const done: Reply = { committed: { lastSequence: 1 } };

test("a group waits for the first work and takes all that is there", async () => {
  const { inbox, offer } = setUp();
  const group = take(inbox);
  offer();
  offer({ first: 2, last: 2 });
  expect(names(await group)).toEqual(["default/invocation 1", "default/invocation 2"]);
  inbox.settle(await group);
  offer({ invocation: "other" });
  offer({ invocation: "third" });
  expect(names(await take(inbox))).toEqual(["default/other 1", "default/third 1"]);
});

test("identical works are one, and all who asked are answered", async () => {
  const { inbox, replies, offer } = setUp();
  offer();
  offer();
  const group = await take(inbox);
  offer();
  expect(group).toHaveLength(1);
  group[0]?.answer(done);
  expect(replies).toEqual([done, done, done]);
  inbox.settle(group);
  expect([inbox.count, inbox.bytes]).toEqual([0, 0]);
});

test("who asks after the answer has a work of his own", async () => {
  const { inbox, replies, offer } = setUp();
  offer();
  const group = await take(inbox);
  group[0]?.answer(done);
  offer();
  inbox.settle(group);
  const again = await take(inbox);
  again[0]?.answer(done);
  expect(replies).toEqual([done, done]);
});

test("other owners and other events are other works", async () => {
  const { inbox, offer } = setUp();
  offer();
  offer({ owner: "other" });
  offer({ first: 2, last: 2 });
  expect(await take(inbox)).toHaveLength(3);
});

test("groups are filled in turn by project, then by invocation, each in order of its events", async () => {
  const { inbox, offer } = setUp({ groupBatchesMax: 5 });
  for (const first of [2, 1, 3]) offer({ project: "big", invocation: "a", first, last: first });
  for (const first of [1, 2, 3]) offer({ project: "big", invocation: "b", first, last: first });
  offer({ project: "small", invocation: "c" });
  const group = await take(inbox);
  expect(names(group)).toEqual(["big/a 1", "small/c 1", "big/b 1", "big/a 2", "big/b 2"]);
  inbox.settle(group);
  expect(names(await take(inbox))).toEqual(["big/a 3", "big/b 3"]);
});

test("a group is bounded by bytes, but takes one work however large", async () => {
  const { inbox, offer } = setUp({ groupBytesMax: 2 * batchBytes });
  for (const invocation of ["a", "b", "c"]) offer({ invocation });
  expect(await take(inbox)).toHaveLength(2);
  const tight = setUp({ groupBytesMax: 1 });
  tight.offer({ invocation: "a" });
  tight.offer({ invocation: "b" });
  expect(await take(tight.inbox)).toHaveLength(1);
});

test("a full inbox refuses, and has room again when something is answered", async () => {
  const { inbox, offer } = setUp({ inboxBytesMax: 2 * batchBytes });
  expect([offer(), offer({ first: 2, last: 2 }), offer({ first: 3, last: 3 })]).toEqual([true, true, false]);
  const group = await take(inbox);
  expect(offer({ first: 3, last: 3 })).toBe(false);
  for (const item of group) item.answer(done);
  inbox.settle(group);
  expect(offer({ first: 3, last: 3 })).toBe(true);
});

test("an empty inbox takes one work that is larger than itself", () => {
  const { offer } = setUp({ inboxBytesMax: 1 });
  expect([offer(), offer({ first: 2, last: 2 })]).toEqual([true, false]);
});

test("works of an invocation are never in two groups at once", async () => {
  const { inbox, offer } = setUp();
  offer();
  const group = await take(inbox);
  offer({ first: 2, last: 2 });
  expect(await hasGroup(inbox)).toBe(false);
  inbox.settle(group);
});

test("what came while a group was committed is taken when that is settled", async () => {
  const { inbox, offer } = setUp();
  offer();
  const group = await take(inbox);
  offer({ first: 2, last: 2 });
  inbox.settle(group);
  expect(names(await take(inbox))).toEqual(["default/invocation 2"]);
});

test("what is ahead waits for something new of its invocation, and comes after it", async () => {
  const { inbox, offer } = setUp();
  offer({ first: 5, last: 5 });
  const group = await take(inbox);
  for (const item of group) item.wait = "ahead";
  inbox.settle(group);
  expect(await hasGroup(inbox)).toBe(false);
  offer({ first: 4, last: 4 });
});

test("what is ahead is decided again with its predecessor", async () => {
  const { inbox, offer } = setUp();
  offer({ first: 5, last: 5 });
  const group = await take(inbox);
  for (const item of group) item.wait = "ahead";
  inbox.settle(group);
  offer({ first: 4, last: 4 });
  expect(names(await take(inbox))).toEqual(["default/invocation 4", "default/invocation 5"]);
});

test("asking again for what is ahead has it looked at again: another writer may have moved the position", async () => {
  const { inbox, offer } = setUp();
  offer({ first: 5, last: 5 });
  const group = await take(inbox);
  for (const item of group) item.wait = "ahead";
  inbox.settle(group);
  offer({ first: 5, last: 5 });
  expect(names(await take(inbox))).toEqual(["default/invocation 5"]);
});

test("what waits for its turn comes at once, what met a held row a moment later", async () => {
  const { clock, inbox, offer } = setUp();
  offer();
  const first = await take(inbox);
  for (const item of first) item.wait = "next";
  inbox.settle(first);
  const second = await take(inbox);
  for (const item of second) item.wait = "busy";
  inbox.settle(second);
  const third = take(inbox);
  let isTaken = false;
  void third.then(() => {
    isTaken = true;
  });
  await clock.advance(4);
  expect(isTaken).toBe(false);
  await clock.advance(1);
  expect(names(await third)).toEqual(["default/invocation 1"]);
});

test("what nobody has asked for again is forgotten", async () => {
  const { clock, inbox, replies, offer } = setUp();
  offer({ first: 5, last: 5 });
  offer({ first: 9, last: 9 });
  const group = await take(inbox);
  for (const item of group) item.wait = "ahead";
  inbox.settle(group);
  await clock.advance(forgetAfterMs / 2);
  offer({ first: 5, last: 5 });
  const again = await take(inbox);
  for (const item of again) item.wait = "ahead";
  inbox.settle(again);
  await clock.advance(forgetAfterMs / 2 + 1);
  offer({ invocation: "other" });
  expect(inbox.count).toBe(2);
  offer({ first: 4, last: 4 });
  expect(names(await take(inbox))).toContain("default/invocation 5");
  expect(replies).toEqual([]);
});

test("of a group that is tried again only the undecided and still asked for remain", async () => {
  const { clock, inbox, offer } = setUp();
  for (const first of [1, 2, 3, 4]) offer({ first, last: first });
  const group = await take(inbox);
  await clock.advance(forgetAfterMs);
  for (const first of [2, 3, 4]) offer({ first, last: first });
  await clock.advance(1);
  group[1]?.answer(done);
  if (group[2]) group[2].wait = "ahead";
  expect(names(inbox.keepUndecided(group))).toEqual(["default/invocation 4"]);
});

test("opens and releases come before batches of their invocation", async () => {
  const { inbox, offer } = setUp();
  offer();
  inbox.offer(openWork({ first: 7, owner: "next" }), () => {});
  inbox.offer(releaseWork(4), () => {});
  expect(names(await take(inbox))).toEqual(["open invocation", "release 4", "default/invocation 1"]);
});

test("a drained inbox gives what it has and then nothing", async () => {
  const { inbox, offer } = setUp();
  offer();
  inbox.drain();
  const group = await take(inbox);
  for (const item of group) item.answer(done);
  inbox.settle(group);
  expect(await inbox.takeGroup()).toBeUndefined();
});

test("beside a group that is being committed a small one waits for its end", async () => {
  const { inbox, offer } = setUp();
  offer();
  await take(inbox);
  offer({ invocation: "other" });
  expect(await hasGroup(inbox)).toBe(false);
});

test("what waited for a group leaves together after it", async () => {
  const { inbox, offer } = setUp();
  offer();
  const first = await take(inbox);
  offer({ invocation: "other" });
  offer({ invocation: "third" });
  for (const item of first) item.answer(done);
  inbox.settle(first);
  expect(names(await take(inbox))).toEqual(["default/other 1", "default/third 1"]);
});

test("beside a group that is being committed one of many works begins", async () => {
  const { inbox, offer } = setUp();
  offer();
  await take(inbox);
  for (let nth = 1; nth <= 64; nth += 1) offer({ invocation: `other-${nth}` });
  expect(await hasGroup(inbox)).toBe(true);
});

test("beside a group that is being committed one of many bytes begins", async () => {
  const { inbox, offer } = setUp();
  offer();
  await take(inbox);
  offer({ invocation: "other", events: Buffer.alloc(128 * 1024) });
  expect(await hasGroup(inbox)).toBe(true);
});

test("a group that takes long is not waited for", async () => {
  const { inbox, offer, clock } = setUp();
  offer();
  await take(inbox);
  offer({ invocation: "other" });
  const group = take(inbox);
  await clock.advance(50);
  expect(names(await group)).toEqual(["default/other 1"]);
});
