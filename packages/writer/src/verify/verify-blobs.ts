import { createHash } from "node:crypto";
import { type Clock, delay } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { unpackFrames } from "@millrace/blobs/archive-frames";
import { type ArchiveFrame, decodeArchiveIndex } from "@millrace/blobs/archive-index";
import { archiveKey } from "@millrace/blobs/blob-key";
import { readBlob } from "@millrace/blobs/blob-store";
import {
  readArchivesKept,
  readOverdueDays,
  readPrefixes,
  readStagedOwned,
  readStoredArchives,
  type StoredArchive,
} from "@millrace/db/verify-archives";
import { pagesOf, unownedArchives, unownedKeptMs, unownedStaged } from "../archive/prune-blobs.ts";
import { checkEventContent, checkLogContent } from "./check-content.ts";
import type { Finding } from "./finding.ts";
import type { Storage } from "./verify-storage.ts";

const archivesAtOnce = 100;
const dayMs = 86_400_000;
/** The job that drops days has so many days of its own to catch up. */
const overdueAfterDays = 3;

/** Whether every archive is there and, with `deep`, is what its row says. Answers how many there are. */
export async function verifyArchives(
  storage: Storage,
  how: { readonly deep: boolean; readonly onFinding: (finding: Finding) => void; pause(): Promise<void> },
): Promise<number> {
  let count = 0;
  for (let after = { attemptId: 0, part: 0 }; ; ) {
    const page = await readStoredArchives(storage.sql, { after, limit: archivesAtOnce });
    for (const archive of page) {
      const finding = await verifyArchive(storage, archive, how.deep);
      if (finding !== undefined)
        how.onFinding({ ...finding, attempt: undefined, attemptId: archive.attemptId });
      if (how.deep) await how.pause();
    }
    await how.pause();
    count += page.length;
    const last = page.at(-1);
    if (last === undefined) return count;
    after = last;
  }
}

/** Those that expire meanwhile are gone with their row; that is looked up before anything is said. */
async function verifyArchive(
  storage: Storage,
  archive: StoredArchive,
  deep: boolean,
): Promise<Pick<Finding, "kind" | "message"> | undefined> {
  const digest = Buffer.from(archive.digest).toString("hex");
  const { prefix, attemptId: attempt, firstSeq: first, lastSeq: last } = archive;
  const key = archiveKey({ prefix, attempt, first, last, digest });
  const problem = await archiveProblem(storage, { archive, key, deep });
  if (problem === undefined) return undefined;
  const kept = await readArchivesKept(storage.sql, [{ attemptId: attempt, digest }]);
  return kept.length === 0 ? undefined : problem;
}

async function archiveProblem(
  storage: Storage,
  of: { archive: StoredArchive; key: string; deep: boolean },
): Promise<Pick<Finding, "kind" | "message"> | undefined> {
  const { archive, key } = of;
  const blob = await storage.blobs.get(key);
  if (blob === undefined) return { kind: "blob-missing", message: `the archive ${key} is not there` };
  const damaged = (what: string) =>
    ({ kind: "archive-damaged", message: `the archive ${key} ${what}` }) as const;
  if (blob.head.size !== archive.size)
    return damaged(`has ${blob.head.size} bytes instead of ${archive.size}`);
  if (!of.deep) return undefined;
  const found = createHash("sha256")
    .update(await readBlob(blob))
    .digest();
  if (Buffer.compare(found, archive.digest) !== 0) return damaged("is not what its digest says");
  try {
    const problem = await contentProblem(storage, archive, key);
    return problem === undefined ? undefined : damaged(problem);
  } catch (error) {
    return damaged(`cannot be read: ${errorText(error)}`);
  }
}

async function contentProblem(
  storage: Storage,
  archive: StoredArchive,
  key: string,
): Promise<string | undefined> {
  const frames = decodeArchiveIndex(archive.frames, archive);
  let [rawBytes, byteCount, lineCount] = [0, 0, 0];
  for await (const { frame, bytes } of unpackFrames(storage, key, frames)) {
    const problem = frameProblem(frame, bytes);
    if (problem !== undefined) return `is damaged at byte ${frame.at}: ${problem}`;
    if (frame.kind === "events") rawBytes += frame.rawBytes;
    else byteCount += frame.rawBytes;
    lineCount += frame.lineCount;
  }
  const isRight =
    rawBytes === archive.rawBytes && byteCount === archive.byteCount && lineCount === archive.lineCount;
  return isRight ? undefined : "does not hold as much as its row says";
}

function frameProblem(frame: ArchiveFrame, bytes: Uint8Array): string | undefined {
  return frame.kind === "events"
    ? checkEventContent(bytes, { bytes: frame.rawBytes, count: frame.count })
    : checkLogContent(bytes, { bytes: frame.rawBytes, count: frame.lineCount });
}

/** Blobs that no row names and that pruning should have deleted a day ago, and days that should have been dropped. */
export async function verifyLeftBehind(
  storage: Storage,
  how: { readonly clock: Clock; readonly onFinding: (finding: Finding) => void },
): Promise<void> {
  const { sql, blobs } = storage;
  const before = how.clock.now() - unownedKeptMs - dayMs;
  const store = {
    stagedOwned: (keys: readonly string[]) => readStagedOwned(sql, keys),
    archivesKept: (of: readonly { attemptId: number; digest: string }[]) => readArchivesKept(sql, of),
  };
  const tell = (kind: "blob-orphan" | "day-not-dropped", message: string): void =>
    how.onFinding({ kind, attempt: undefined, attemptId: 0, message });
  for (const prefix of await readPrefixes(sql)) {
    for (const [kind, unowned] of [
      ["staged", unownedStaged],
      ["archives", unownedArchives],
    ] as const) {
      for await (const page of pagesOf(blobs.list(`${prefix}/${kind}/`), before)) {
        for (const { key } of await unowned(page, store)) tell("blob-orphan", `no row names the blob ${key}`);
      }
    }
  }
  for (const name of await readOverdueDays(sql, overdueAfterDays)) {
    tell("day-not-dropped", `${name} should have been emptied and dropped by now`);
  }
}

/** A pause after each page, as many times as long as the page took; 0: none. */
export function throttle(clock: Clock, factor: number): () => Promise<void> {
  let since = clock.monotonic();
  return async () => {
    const took = clock.monotonic() - since;
    if (factor > 0) await delay(clock, took * factor);
    since = clock.monotonic();
  };
}
