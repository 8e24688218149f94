import { type Clock, delay } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import { archiveKey } from "@millrace/blobs/blob-key";
import type { BlobStore } from "@millrace/blobs/blob-store";
import type { Job, JobLease } from "../jobs.ts";
import type { ExpiredArchive, ExpiredPage, RetentionStore } from "./retention-store.ts";

const periodMs = 600_000;

/** Between two batches, so that deletes never crowd out commits. */
const restMs = 50;

export interface RetentionPorts {
  readonly store: RetentionStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes what each project's settings no longer keep. */
export function retentionJob(ports: RetentionPorts): Job {
  return {
    name: "retention",
    periodMs,
    run: async (lease) => {
      const raw = await expireAll(ports, (after) => ports.store.expireRaw(after, lease));
      const builds = await expireAll(ports, (after) => ports.store.expireBuilds(after, lease));
      const calls = await expireLifecycle(ports, lease);
      if (raw + builds + calls > 0) ports.log.info("deleted what has expired", { raw, builds, calls });
    },
  };
}

/**
 * Page by page: rows first, in one transaction, then the blobs they named. A crash in between leaves blobs that nothing
 * names, which the pruning of blobs finds, and never a row whose blob is gone.
 */
async function expireAll(
  ports: RetentionPorts,
  expire: (after: number) => Promise<ExpiredPage>,
): Promise<number> {
  let attempts = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: ExpiredPage = await expire(after);
    for (const archive of page.archives) await ports.blobs.delete(keyOf(archive));
    attempts += page.attempts;
    after = page.next;
    if (after !== undefined) await delay(ports.clock, restMs);
  }
  return attempts;
}

async function expireLifecycle(ports: RetentionPorts, lease: JobLease): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await ports.store.expireLifecycle(lease);
    total += deleted;
    if (deleted === 0) return total;
    await delay(ports.clock, restMs);
  }
}

function keyOf(archive: ExpiredArchive): string {
  const { prefix, attemptId: attempt, firstSeq: first, lastSeq: last, digest } = archive;
  return archiveKey({ prefix, attempt, first, last, digest });
}
