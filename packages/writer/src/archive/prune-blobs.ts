import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { BlobHead, OwnedBlobStore } from "@millrace/blobs/blob-store";
import type { Job } from "../jobs.ts";
import { archiveNameOf, type RetentionStore } from "./retention-store.ts";

const periodMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * A blob that no row names may be one whose row is still on its way: a batch that waits for the database, at most for
 * the time that streams are held, or an archive that is being verified. After so long it is neither.
 */
export const unownedKeptMs = 7 * dayMs;

const lookedUpAtOnce = 200;

export interface PrunePorts {
  readonly store: RetentionStore;
  readonly blobs: OwnedBlobStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes old staged blobs and archives that no row names, and what crashed puts left. */
export function pruneJob(ports: PrunePorts): Job {
  return {
    name: "prune-blobs",
    periodMs,
    run: async () => {
      let pruned = 0;
      for (const prefix of await ports.store.prefixes()) {
        pruned += await pruneKind(ports, `${prefix}/staged/`, unownedStaged);
        pruned += await pruneKind(ports, `${prefix}/archives/`, unownedArchives);
      }
      const leftovers = await ports.blobs.removeLeftovers();
      if (pruned + leftovers > 0) ports.log.info("pruned blobs that nothing names", { pruned, leftovers });
    },
  };
}

type Unowned = (heads: readonly BlobHead[], store: RetentionStore) => Promise<BlobHead[]>;

async function pruneKind(ports: PrunePorts, prefix: string, unowned: Unowned): Promise<number> {
  const before = ports.clock.now() - unownedKeptMs;
  let pruned = 0;
  for await (const page of pagesOf(ports.blobs.list(prefix), before)) {
    for (const { key } of await unowned(page, ports.store)) {
      if (await ports.store.removeUnowned(key, () => ports.blobs.delete(key))) pruned += 1;
    }
  }
  return pruned;
}

/** Blobs older than that, some at a time. */
export async function* pagesOf(heads: AsyncIterable<BlobHead>, before: number): AsyncGenerator<BlobHead[]> {
  let page: BlobHead[] = [];
  for await (const head of heads) {
    if (head.modifiedAtMs >= before) continue;
    page.push(head);
    if (page.length < lookedUpAtOnce) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Those that no segment names. */
export async function unownedStaged(
  heads: readonly BlobHead[],
  store: Pick<RetentionStore, "stagedOwned">,
): Promise<BlobHead[]> {
  const owned = new Set(await store.stagedOwned(heads.map((head) => head.key)));
  return heads.filter((head) => !owned.has(head.key));
}

/** Those that no archive's row names, or one that has expired. */
export async function unownedArchives(
  heads: readonly BlobHead[],
  store: Pick<RetentionStore, "archivesKept">,
): Promise<BlobHead[]> {
  const named = heads.flatMap((head) => {
    const name = archiveNameOf(head.key);
    return name === undefined ? [] : [{ head, name }];
  });
  const rows = await store.archivesKept(named.map((one) => one.name));
  const kept = new Set(rows.map((row) => `${row.attemptId}-${row.digest}`));
  return named.filter(({ name }) => !kept.has(`${name.attemptId}-${name.digest}`)).map((one) => one.head);
}
