import { errorText } from "@millrace/base/errors";
import { readJournal, readMarkers } from "./journal.ts";
import { dayBucket, type Layout, shardOf } from "./layout.ts";
import { entryOf, RecordIndex } from "./record-index.ts";
import { readSnapshot, type Snapshot } from "./snapshot.ts";
import { idsInShard, listShards, readManifest } from "./walk.ts";

/** The index as a start finds it, how far each journal is in it, and records that cannot be read. */
export interface OpenedIndex {
  readonly index: RecordIndex;
  readonly journals: Map<string, number>;
  readonly damaged: Map<string, string>;
  readonly from: "snapshot" | "walk";
  /** Directories without a manifest: an interrupted creation. */
  readonly empty: readonly string[];
}

/** Builds the index from the snapshot and what changed since, or by reading every manifest. */
export function openIndex(layout: Layout, options: { useSnapshot: boolean }): OpenedIndex {
  // Before anything is read: a change made meanwhile is then read again, never missed.
  const markers = readMarkers(layout.changes);
  const snapshot = options.useSnapshot ? readSnapshot(layout.snapshot) : undefined;
  const opened: OpenedIndex & { empty: string[] } = {
    index: new RecordIndex(),
    journals: new Map(),
    damaged: new Map(),
    from: snapshot === undefined ? "walk" : "snapshot",
    empty: [],
  };
  for (const entry of snapshot?.entries ?? []) opened.index.set(entry);
  readShards(layout, opened, snapshot);
  for (const marker of markers) {
    const from = snapshot?.journals.get(marker.id) ?? 0;
    opened.journals.set(marker.id, marker.settled);
    // A walk has read all manifests after the markers.
    if (snapshot === undefined || from >= marker.settled) continue;
    const range = { publisher: marker.id, from, to: marker.settled };
    for (const id of readJournal(layout.changes, range).ids) reload(layout, id, opened);
  }
  return opened;
}

/** Reads the shards that are not as the snapshot saw them. */
function readShards(
  layout: Layout,
  opened: OpenedIndex & { empty: string[] },
  snapshot: Snapshot | undefined,
): void {
  const shards = listShards(layout);
  const changed = [...shards.keys()].filter((shard) => snapshot?.shards.get(shard) !== shards.get(shard));
  const gone = snapshot === undefined ? [] : [...snapshot.shards.keys()].filter((name) => !shards.has(name));
  const suspects = new Set([...changed, ...gone]);
  const seen = new Set<string>();
  for (const shard of changed) {
    for (const id of idsInShard(layout, shard)) {
      seen.add(id);
      if (opened.index.get(id) === undefined && !reload(layout, id, opened)) opened.empty.push(id);
    }
  }
  if (snapshot === undefined || suspects.size === 0) return;
  for (const entry of [...opened.index.all()]) {
    if (!seen.has(entry.id) && suspects.has(`${dayBucket(entry.id)}/${shardOf(entry.id)}`))
      opened.index.delete(entry.id);
  }
}

/** Brings the entry of one invocation up to its manifest. False when there is no manifest. */
export function reload(
  layout: Layout,
  id: string,
  into: { index: RecordIndex; damaged: Map<string, string> },
): boolean {
  try {
    const invocation = readManifest(layout, id);
    into.damaged.delete(id);
    if (invocation === undefined) into.index.delete(id);
    else into.index.set(entryOf(invocation));
    return invocation !== undefined;
  } catch (error) {
    into.damaged.set(id, errorText(error));
    into.index.delete(id);
    return true;
  }
}
