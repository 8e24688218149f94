import type { Executor } from "@millrace/db/connect";
import type { NewMessage, Published } from "../queue/message.ts";
import type { QueueTexts } from "./queue-texts.ts";

/** A partition by its three names. */
export interface PartitionName {
  readonly topic: string;
  readonly group: string;
  readonly key: string;
}

/** Adds a message for each group of its topic, inside the caller's transaction. */
export async function publishMessage(
  tx: Executor,
  message: NewMessage,
  how: { texts: QueueTexts; groups: readonly string[] },
): Promise<Published> {
  const { topic, key, id, payload, metadata = {}, once = false } = message;
  const rows = await tx.unsafe(how.texts.insertDeliveries, [
    topic,
    [...how.groups],
    key,
    id,
    JSON.stringify(payload),
    JSON.stringify(metadata),
    once,
  ]);
  if (rows.length === 0) return "duplicate";
  const added = rows.map((row) => ({ topic, group: String(row.group_name), key, id: Number(row.id) }));
  await enterPartitions(tx, added, how.texts);
  return "published";
}

/** Makes new deliveries known to their partitions. */
export async function enterPartitions(
  tx: Executor,
  added: readonly (PartitionName & { id: number })[],
  texts: QueueTexts,
): Promise<void> {
  if (added.length === 0) return;
  const rows = await tx.unsafe(texts.lockPartitions, [...namesOf(added), added.map((one) => one.id)]);
  const older = rows.filter((row) => row.is_handled === false && row.is_new === false);
  if (older.length === 0) return;
  const waiting = older.map((row) => ({
    topic: String(row.topic),
    group: String(row.group_name),
    key: String(row.partition_key),
  }));
  await tx.unsafe(texts.chooseHeads, namesOf(waiting));
}

/** Parameters: topics, groups, keys. */
export function namesOf(partitions: readonly PartitionName[]): [string[], string[], string[]] {
  return [
    partitions.map((one) => one.topic),
    partitions.map((one) => one.group),
    partitions.map((one) => one.key),
  ];
}
