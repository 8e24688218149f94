import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Zstd } from "@millrace/base/zstd";
import { type BlobStore, readBlob } from "@millrace/blobs/blob-store";
import type { Executor } from "@millrace/db/connect";
import {
  readOrphans,
  readStoredAttempts,
  readStoredNotes,
  readStoredSegments,
  type StoredNotes,
  type StoredSegment,
  tablesOfAttempts,
} from "@millrace/db/verify";
import { Carry } from "@millrace/proto/pipeline";
import { checkAttempt, type LogPosition } from "./check-attempt.ts";
import { checkEventContent, checkLogContent } from "./check-content.ts";
import type { Finding } from "./finding.ts";
import { throttle, verifyArchives, verifyLeftBehind } from "./verify-blobs.ts";

/** What is looked at. */
export interface Storage {
  readonly sql: Executor;
  readonly blobs: BlobStore;
  readonly zstd: Zstd;
}

export interface Verification {
  readonly attempts: number;
  /** Segments whose blob was looked for, or with `deep` whose content was read. */
  readonly segments: number;
  readonly archives: number;
  readonly notes: StoredNotes;
}

const attemptsAtOnce = 500;
/** Segments hold some 100 KB as a rule, and 100 MB at most. */
const segmentsAtOnce = 20;
const orphansShownMax = 100;

export interface HowToVerify {
  /** Unpacks every segment and archive and counts what is in it. */
  readonly deep: boolean;
  readonly clock: Clock;
  /** Rests after each page so many times as long as the page took; 0: not at all. */
  readonly restFactor: number;
  onFinding(finding: Finding): void;
}

/** Checks everything that is stored and hands every finding to `onFinding`. Works while builds run. */
export async function verifyStorage(storage: Storage, asked: HowToVerify): Promise<Verification> {
  const how = { ...asked, pause: throttle(asked.clock, asked.restFactor) };
  const attempts = await verifyAttempts(storage, how);
  let segments = 0;
  for (const kind of ["events", "log"] as const) segments += await verifySegments(storage, { ...how, kind });
  const archives = await verifyArchives(storage, how);
  for (const table of tablesOfAttempts) {
    for (const { attemptId, rows } of await readOrphans(storage.sql, { table, limit: orphansShownMax })) {
      const message = `${rows} rows in ${table} belong to no attempt`;
      how.onFinding({ kind: "orphan-rows", attempt: undefined, attemptId, message });
    }
  }
  await verifyLeftBehind(storage, how);
  return { attempts, segments, archives, notes: await readStoredNotes(storage.sql) };
}

interface Step {
  onFinding(finding: Finding): void;
  pause(): Promise<void>;
}

async function verifyAttempts({ sql }: Storage, how: Step): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const page = await readStoredAttempts(sql, { after, limit: attemptsAtOnce });
    for (const stored of page) {
      for (const finding of checkAttempt(stored, readCarry(stored.carry))) how.onFinding(finding);
    }
    await how.pause();
    count += page.length;
    const last = page.at(-1);
    if (last === undefined) return count;
    after = last.attemptId;
  }
}

function readCarry(bytes: Uint8Array | null): LogPosition | undefined {
  if (bytes === null) return { logBytes: 0, logLines: 0 };
  try {
    const { logBytes, logLines } = Carry.decode(bytes);
    return { logBytes, logLines };
  } catch {
    return undefined;
  }
}

async function verifySegments(
  storage: Storage,
  how: Step & { kind: "events" | "log"; deep: boolean },
): Promise<number> {
  const { kind, deep } = how;
  let count = 0;
  let after = { attemptId: 0, first: -1 };
  for (;;) {
    const page = await readStoredSegments(storage.sql, {
      kind,
      after,
      limit: segmentsAtOnce,
      withData: deep,
    });
    for (const segment of page) {
      const finding = deep ? await verifyContent(storage, kind, segment) : await verifyBlob(storage, segment);
      if (finding !== undefined) how.onFinding(finding);
    }
    await how.pause();
    count += page.length;
    const last = page.at(-1);
    if (last === undefined) return count;
    after = last;
  }
}

async function verifyBlob({ blobs }: Storage, segment: StoredSegment): Promise<Finding | undefined> {
  const key = segment.stagedKey;
  if (key !== undefined && (await blobs.head(key)) !== undefined) return undefined;
  const message =
    key === undefined ? "a segment has neither data nor a blob" : `the blob ${key} is not there`;
  return segmentFinding(segment, { kind: "blob-missing", message });
}

async function verifyContent(
  storage: Storage,
  kind: "events" | "log",
  segment: StoredSegment,
): Promise<Finding | undefined> {
  const place = `the segment at ${kind === "events" ? "event" : "byte"} ${segment.first}`;
  const blob = segment.stagedKey === undefined ? undefined : await storage.blobs.get(segment.stagedKey);
  const packed = segment.data ?? (blob === undefined ? undefined : await readBlob(blob));
  if (packed === undefined) {
    const message = `${place} is nowhere: ${segment.stagedKey ?? "without data"}`;
    return segmentFinding(segment, { kind: "blob-missing", message });
  }
  try {
    const content = await storage.zstd.decompress(packed);
    const problem =
      kind === "events" ? checkEventContent(content, segment) : checkLogContent(content, segment);
    if (problem === undefined) return undefined;
    return segmentFinding(segment, { kind: "segment-damaged", message: `${place}: ${problem}` });
  } catch (error) {
    const message = `${place} cannot be unpacked: ${errorText(error)}`;
    return segmentFinding(segment, { kind: "segment-damaged", message });
  }
}

function segmentFinding(
  { attemptId }: StoredSegment,
  what: { kind: "blob-missing" | "segment-damaged"; message: string },
): Finding {
  return { ...what, attemptId, attempt: undefined };
}
