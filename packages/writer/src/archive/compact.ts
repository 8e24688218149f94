import { createHash } from "node:crypto";
import { MillraceError } from "@millrace/base/errors";
import { archiveKey } from "@millrace/blobs/blob-key";
import { type BlobStore, readBlob } from "@millrace/blobs/blob-store";
import type { WriterFailPoints } from "../failpoints.ts";
import type { JobLease } from "../jobs.ts";
import type { ArchivePlan, ArchiveStore, StoredPiece } from "./archive-store.ts";
import { archiveLevel, type PackedArchive, type PackOrder, type SegmentToPack } from "./pack-archive.ts";

export interface CompactionPorts {
  readonly store: ArchiveStore;
  readonly blobs: BlobStore;
  readonly points: WriterFailPoints;
  pack(order: PackOrder): Promise<PackedArchive>;
}

/**
 * Puts what is stored of an ended attempt into archives, each written, read back, and only then entered: a crash
 * anywhere leaves the segments as they are, and at most an object that the next run writes again under the same name.
 * Answers how many archives were made.
 */
export async function compactAttempt(
  attemptId: number,
  ports: CompactionPorts,
  lease: JobLease,
): Promise<number> {
  for (let made = 0; ; made += 1) {
    const plan = await ports.store.planNext(attemptId);
    if (plan === undefined) return made;
    const { bytes, digest, frames } = await ports.pack(await orderOf(plan, ports.blobs));
    const key = archiveKey({
      prefix: plan.project,
      attempt: attemptId,
      first: plan.firstSeq,
      last: plan.lastSeq,
      digest: Buffer.from(digest).toString("hex"),
    });
    await ports.blobs.put(key, bytes);
    await ports.points.reach("archive-written");
    await verifyWritten(ports.blobs, key, digest);
    await ports.points.reach("archive-verified");
    const { events: _events, log: _log, ...row } = plan;
    await ports.store.insert({ ...row, size: bytes.length, digest, frames }, lease);
  }
}

async function orderOf(plan: ArchivePlan, blobs: BlobStore): Promise<PackOrder> {
  const { project, attemptId, firstSeq, firstByte, firstLine } = plan;
  return {
    ...{ project, attemptId, level: archiveLevel, start: { firstSeq, firstByte, firstLine } },
    events: await Promise.all(plan.events.map((piece) => withBytes(piece, blobs))),
    log: await Promise.all(plan.log.map((piece) => withBytes(piece, blobs))),
  };
}

async function withBytes(piece: StoredPiece, blobs: BlobStore): Promise<SegmentToPack> {
  const { first, count, rawBytes, stagedKey } = piece;
  if (piece.data !== undefined) return { first, count, rawBytes, packed: piece.data };
  const blob = stagedKey === undefined ? undefined : await blobs.get(stagedKey);
  if (blob !== undefined) return { first, count, rawBytes, packed: await readBlob(blob) };
  throw new MillraceError({
    remedy: "retry",
    code: "segment-missing",
    message: `the segment at ${first} is not in the blob store: ${stagedKey ?? "it has no key"}`,
  });
}

async function verifyWritten(blobs: BlobStore, key: string, digest: Uint8Array): Promise<void> {
  const blob = await blobs.get(key);
  const found =
    blob === undefined
      ? undefined
      : createHash("sha256")
          .update(await readBlob(blob))
          .digest();
  if (found !== undefined && Buffer.compare(found, digest) === 0) return;
  // Nobody has seen it. What is under this name must never be another thing than the name says.
  await blobs.delete(key);
  throw new MillraceError({
    remedy: "retry",
    code: "archive-broken",
    message: `the blob store does not give back what was put under ${key}`,
  });
}
