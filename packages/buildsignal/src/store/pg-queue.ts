import type { Executor } from "@millrace/db/connect";
import type { Lane } from "@millrace/db/lane";
import {
  type ClaimAsk,
  type Claimed,
  type Delivery,
  deadGroupOf,
  deadTopicOf,
  type Finished,
  originGroupOf,
  originOf,
  type QueueStore,
} from "../queue/message.ts";
import { asFailure } from "./failure.ts";
import { enterPartitions, namesOf, type PartitionName } from "./publish.ts";
import { type QueueTexts, queueTexts } from "./queue-texts.ts";

/** The server's clock, the only one that decides what is due. */
export const serverNow = "(select clock_timestamp())";

/** A connection for claims and one for what ends: neither waits for the other. */
export interface QueueLanes {
  readonly claims: Lane;
  readonly finishes: Lane;
}

/** The queue on PostgreSQL. `now` is another expression in tests only. */
export function pgQueue(
  lanes: QueueLanes,
  now: string = serverNow,
): QueueStore & { pruneDone(olderThanMs: number): Promise<void> } {
  const texts = queueTexts(now);
  return {
    claim: (asks) => asFailure(() => lanes.claims.transact((tx) => claim(tx, asks, texts))),
    finish: (finished) => asFailure(() => lanes.finishes.transact((tx) => finish(tx, finished, texts))),
    extend: (deliveries, visibilityMs) =>
      asFailure(() =>
        lanes.finishes.transact(async (tx) => {
          const receipts = deliveries.map((one) => one.receipt);
          await tx.unsafe(texts.extend, [...namesOf(deliveries), receipts, visibilityMs]);
        }),
      ),
    pruneDone: (olderThanMs) =>
      asFailure(() =>
        lanes.claims.transact(async (tx) => {
          await tx.unsafe(texts.pruneDone, [olderThanMs]);
        }),
      ),
  };
}

type Row = Readonly<Record<string, unknown>>;

async function claim(tx: Executor, asks: readonly ClaimAsk[], texts: QueueTexts): Promise<Claimed> {
  const topics = asks.map((ask) => ask.topic);
  const groups = asks.map((ask) => ask.group);
  const partitions = await tx.unsafe(texts.claimPartitions, [
    topics,
    groups,
    asks.map((ask) => ask.room),
    asks.map((ask) => ask.visibilityMs),
  ]);
  const deliveries = await readClaimed(tx, partitions, texts);
  const attemptsMax = new Map(asks.map((ask) => [`${ask.topic} ${ask.group}`, ask.attemptsMax]));
  const isExhausted = (one: Delivery): boolean =>
    one.attempt > (attemptsMax.get(`${one.topic} ${one.group}`) ?? Number.POSITIVE_INFINITY);
  const exhausted = deliveries.filter(isExhausted);
  if (exhausted.length > 0) {
    await finish(tx, exhausted.map(lapsedLetter), texts);
  }
  const [next] = await tx.unsafe(texts.nextDue, [topics, groups]);
  return {
    deliveries: deliveries.filter((one) => !isExhausted(one)),
    exhausted,
    nextDueInMs: next?.in_ms === null || next === undefined ? undefined : Math.max(0, Number(next.in_ms)),
  };
}

/** Its last attempt is the one that lapsed, not the one that does not begin. */
function lapsedLetter(delivery: Delivery): Finished {
  const reason = "not finished within its visibility";
  return { delivery: { ...delivery, attempt: delivery.attempt - 1 }, finish: { kind: "dead", reason } };
}

async function readClaimed(tx: Executor, partitions: readonly Row[], texts: QueueTexts): Promise<Delivery[]> {
  if (partitions.length === 0) return [];
  const lapsed = partitions.filter((row) => row.has_lapsed === true).map((row) => Number(row.head_id));
  if (lapsed.length > 0) await tx.unsafe(texts.countLapsed, [lapsed]);
  const rows = await tx.unsafe(texts.readDeliveries, [partitions.map((row) => Number(row.head_id))]);
  const byId = new Map<number, Row>(rows.map((row) => [Number(row.id), row]));
  return partitions.flatMap((partition) => {
    const row = byId.get(Number(partition.head_id));
    return row === undefined ? [] : [deliveryOf(row, partition)];
  });
}

function deliveryOf(row: Row, partition: Row): Delivery {
  return {
    id: Number(row.id),
    topic: String(row.topic),
    group: String(row.group_name),
    key: String(row.partition_key),
    messageId: String(row.message_id),
    payload: row.payload,
    metadata: row.metadata as Delivery["metadata"],
    once: row.once === true,
    attempt: Number(row.failures) + 1,
    receipt: String(partition.receipt),
    holds: Number(row.holds),
    heldForMs: Number(row.held_for_ms),
    lateMs: partition.has_lapsed === true ? 0 : Math.max(0, Number(partition.late_ms)),
  };
}

interface FinishResult {
  readonly wereStored: boolean[];
  readonly nextDueInMs: number | undefined;
}

async function finish(tx: Executor, finished: readonly Finished[], texts: QueueTexts): Promise<FinishResult> {
  const held = await holdAtFront(tx, finished, texts);
  const rest = finished.filter((one) => !held.has(one.delivery.id));
  const { good, dues } = await finishAnyhow(tx, rest, texts);
  const allDues = [...dues, ...held.values()].map((ms) => Math.max(0, ms));
  return {
    wereStored: finished.map(({ delivery }) => held.has(delivery.id) || good.has(delivery.receipt)),
    nextDueInMs: allDues.length === 0 ? undefined : Math.min(...allDues),
  };
}

/**
 * The short way of nearly all that ends: a hold of what is first in its partition needs no look at the rest of it. The
 * ids that went it, with their delays.
 */
async function holdAtFront(
  tx: Executor,
  finished: readonly Finished[],
  texts: QueueTexts,
): Promise<Map<number, number>> {
  const holds = finished.flatMap(({ delivery, finish: how }) =>
    how.kind === "hold" ? [{ ...delivery, delayMs: how.delayMs, flag: how.fresh }] : [],
  );
  if (holds.length === 0) return new Map();
  const rows = await tx.unsafe(texts.holdAtFront, [
    ...namesOf(holds),
    holds.map((one) => one.receipt),
    idsOf(holds),
    holds.map((one) => one.delayMs),
  ]);
  const went = new Map(rows.map((row) => [Number(row.id), Number(row.in_ms)]));
  if (went.size > 0)
    await wait(
      tx,
      texts.hold,
      holds.filter((one) => went.has(one.id)),
    );
  return went;
}

/** The receipts that were good, and when their partitions are due next. */
async function finishAnyhow(
  tx: Executor,
  finished: readonly Finished[],
  texts: QueueTexts,
): Promise<{ good: Set<string>; dues: number[] }> {
  if (finished.length === 0) return { good: new Set(), dues: [] };
  const all = finished.map((one) => one.delivery);
  const locked = await tx.unsafe(texts.lockReceipts, [...namesOf(all), all.map((one) => one.receipt)]);
  const good = new Set(locked.map((row) => String(row.receipt)));
  const stored = finished.filter((one) => good.has(one.delivery.receipt));
  if (stored.length === 0) return { good, dues: [] };
  await applyDone(tx, stored, texts);
  await applyWaits(tx, stored, texts);
  await applyDead(tx, stored, texts);
  const rows = await tx.unsafe(texts.chooseHeads, namesOf(stored.map((one) => one.delivery)));
  return { good, dues: rows.map((row) => Number(row.in_ms)) };
}

async function applyDone(tx: Executor, stored: readonly Finished[], texts: QueueTexts): Promise<void> {
  const ended = stored.filter((one) => one.finish.kind === "done").map((one) => one.delivery);
  const [kept, gone] = [ended.filter((one) => one.once), ended.filter((one) => !one.once)];
  if (gone.length > 0) await tx.unsafe(texts.deleteDone, [idsOf(gone)]);
  if (kept.length > 0) await tx.unsafe(texts.keepDone, [idsOf(kept)]);
  const letters = ended.flatMap((one) => {
    const topic = originOf(one.topic);
    return topic === undefined ? [] : [{ ...one, topic, group: originGroupOf(one.group) }];
  });
  if (letters.length === 0) return;
  await tx.unsafe(texts.settleLetters, [...namesOf(letters), letters.map((one) => one.messageId)]);
}

async function applyWaits(tx: Executor, stored: readonly Finished[], texts: QueueTexts): Promise<void> {
  const holds = stored.flatMap(({ delivery, finish: how }) =>
    how.kind === "hold" ? [{ id: delivery.id, delayMs: how.delayMs, flag: how.fresh }] : [],
  );
  const retries = stored.flatMap(({ delivery, finish: how }) =>
    how.kind === "retry" ? [{ id: delivery.id, delayMs: how.delayMs, flag: how.isBarrier }] : [],
  );
  if (holds.length > 0) await wait(tx, texts.hold, holds);
  if (retries.length > 0) await wait(tx, texts.retry, retries);
  const returned = stored.filter((one) => one.finish.kind === "return").map((one) => one.delivery);
  if (returned.length > 0) await tx.unsafe(texts.giveBack, [idsOf(returned)]);
}

async function wait(
  tx: Executor,
  text: string,
  waits: readonly { readonly id: number; readonly delayMs: number; readonly flag: boolean }[],
): Promise<void> {
  const flags = waits.map((one) => Number(one.flag));
  await tx.unsafe(text, [idsOf(waits), waits.map((one) => one.delayMs), flags]);
}

async function applyDead(tx: Executor, stored: readonly Finished[], texts: QueueTexts): Promise<void> {
  const dead = stored.flatMap(({ delivery, finish: how }) =>
    how.kind === "dead" ? [{ delivery, reason: how.reason }] : [],
  );
  if (dead.length === 0) return;
  const ids = dead.map((one) => one.delivery.id);
  await tx.unsafe(texts.writeLetters, [
    ids,
    dead.map((one) => one.reason.slice(0, reasonCharsMax).replaceAll("\0", "")),
    dead.map((one) => one.delivery.attempt),
  ]);
  const rows = await tx.unsafe(texts.moveDead, [
    ids,
    dead.map((one) => deadTopicOf(one.delivery.topic)),
    dead.map((one) => deadGroupOf(one.delivery.group)),
  ]);
  await enterPartitions(tx, rows.map(addedOf), texts);
}

const reasonCharsMax = 2_000;

function addedOf(row: Row): PartitionName & { id: number } {
  return {
    topic: String(row.topic),
    group: String(row.group_name),
    key: String(row.partition_key),
    id: Number(row.id),
  };
}

function idsOf(ones: readonly { readonly id: number }[]): number[] {
  return ones.map((one) => one.id);
}
