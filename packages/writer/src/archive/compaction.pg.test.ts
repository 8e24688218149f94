import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { unpackFrames } from "@millrace/blobs/archive-frames";
import { decodeArchiveIndex } from "@millrace/blobs/archive-index";
import { archiveKey } from "@millrace/blobs/blob-key";
import { readStoredArchives } from "@millrace/db/verify-archives";
import { readFrames } from "@millrace/proto/bep/frames";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compactionJob } from "./compaction-job.ts";
import { startPackPool } from "./pack-pool.ts";
import { eventOf, lineOf, type StorageBench, storageBench } from "./storage.fixture.ts";

let storage: StorageBench;

beforeAll(async () => {
  storage = await storageBench();
});
afterAll(() => storage[Symbol.asyncDispose]());

/** Events and log of an attempt as its archives have them. */
async function archived(attemptId: number): Promise<{ events: string[]; log: string; parts: number }> {
  const { sql } = storage.bench.database;
  const all = await readStoredArchives(sql, { after: { attemptId, part: 0 }, limit: 100 });
  const own = all.filter((archive) => archive.attemptId === attemptId);
  const events: string[] = [];
  const log: Uint8Array[] = [];
  for (const archive of own) {
    const digest = Buffer.from(archive.digest).toString("hex");
    const { prefix, firstSeq: first, lastSeq: last } = archive;
    const key = archiveKey({ prefix, attempt: attemptId, first, last, digest });
    const frames = decodeArchiveIndex(archive.frames, archive);
    for await (const { frame, bytes } of unpackFrames(storage, key, frames)) {
      if (frame.kind === "log") log.push(bytes);
      else
        for await (const one of readFrames([bytes], { messageBytesMax: 1e9 }))
          if (one.kind === "frame") events.push(Buffer.from(one.bytes).toString());
    }
  }
  return { events, log: Buffer.concat(log).toString(), parts: own.length };
}

function wanted(invocation: string, last: number, bytes = 40): { events: string[]; log: string } {
  const sequences = Array.from({ length: last }, (_, at) => at + 1);
  return {
    events: sequences.map((sequence) => eventOf(invocation, sequence, bytes).toString()),
    log: sequences.map((sequence) => lineOf(invocation, sequence, bytes).toString()).join(""),
  };
}

test("an ended attempt becomes one archive that holds all; a second run finds nothing to do", async () => {
  const invocation = "plain";
  const attemptId = await storage.commit({ invocation, first: 1, last: 7 });
  await storage.commit({ invocation, attemptId, first: 8, last: 8 });
  expect(await storage.compact(attemptId)).toBe(0);
  await storage.commit({ invocation, attemptId, first: 9, last: 20, ends: true });
  expect(await storage.compact(attemptId)).toBe(1);
  expect(await storage.compact(attemptId)).toBe(0);
  expect(await archived(attemptId)).toEqual({ ...wanted(invocation, 20), parts: 1 });
  expect(await storage.findings()).toEqual([]);
});

test("any zstd tool unpacks the object to the events and the log", async () => {
  const attemptId = await storage.commit({ invocation: "tool", first: 1, last: 3, ends: true });
  await storage.compact(attemptId);
  for await (const head of storage.blobs.list(`default/archives/${attemptId}/`)) {
    const blob = await storage.blobs.get(head.key);
    const pieces: Uint8Array[] = [];
    for await (const piece of blob?.content ?? []) pieces.push(piece);
    const { zstdDecompressSync } = await import("node:zlib");
    const text = zstdDecompressSync(Buffer.concat(pieces)).toString();
    expect(text).toContain(eventOf("tool", 3).toString());
    expect(text.endsWith(lineOf("tool", 3).toString())).toBe(true);
  }
});

test("an attempt that was swept, archived and resumed gets a further archive", async () => {
  const invocation = "resumed";
  const attemptId = await storage.commit({ invocation, first: 1, last: 5 });
  await storage.bench.one("update stream_positions set swept_at = now() where attempt_id = $1", [attemptId]);
  expect(await storage.compact(attemptId)).toBe(1);
  await storage.commit({ invocation, attemptId, first: 6, last: 9 });
  expect(await storage.compact(attemptId)).toBe(0);
  await storage.commit({ invocation, attemptId, first: 10, last: 11, ends: true });
  expect(await storage.compact(attemptId)).toBe(1);
  expect(await archived(attemptId)).toEqual({ ...wanted(invocation, 11), parts: 2 });
  expect(await storage.findings()).toEqual([]);
});

test("a long build becomes several archives of bounded size, of many frames", async () => {
  const invocation = "long";
  const pieceBytes = 45_000;
  const attemptId = await storage.commit({ invocation, first: 1, last: 20, pieceBytes });
  for (let first = 21; first <= 101; first += 20) {
    const last = Math.min(first + 19, 101);
    await storage.commit({ invocation, attemptId, first, last, pieceBytes, ends: last === 101 });
  }
  expect(await storage.compact(attemptId)).toBe(2);
  const found = await archived(attemptId);
  const all = wanted(invocation, 101, pieceBytes);
  expect(found.parts).toBe(2);
  expect(found.events.length).toBe(101);
  expect(found.events.every((event, at) => event === all.events[at])).toBe(true);
  expect(found.log === all.log).toBe(true);
  expect(await storage.findings()).toEqual([]);
});

test("what lies staged in the blob store is archived as well; a damaged segment is not", async () => {
  const invocation = "staged";
  const attemptId = await storage.commit({ invocation, first: 1, last: 4 });
  await storage.commit({ invocation, attemptId, first: 5, last: 6, ends: true });
  const row = await storage.bench.one(
    "select data from event_segments where attempt_id = $1 and first_seq = 5",
    [attemptId],
  );
  await storage.blobs.put("default/staged/aa/5-events-00", row?.data as Uint8Array);
  const change =
    "update event_segments set data = null, staged_key = $2 where attempt_id = $1 and first_seq = 5";
  await storage.bench.one(change, [attemptId, "default/staged/aa/5-none"]);
  await expect(storage.compact(attemptId)).rejects.toMatchObject({ code: "segment-missing" });
  await storage.bench.one(change, [attemptId, "default/staged/aa/5-events-00"]);
  await storage.bench.one("update event_segments set raw_bytes = raw_bytes + 1 where attempt_id = $1", [
    attemptId,
  ]);
  await expect(storage.compact(attemptId)).rejects.toMatchObject({ code: "segment-damaged" });
  await storage.bench.one("update event_segments set raw_bytes = raw_bytes - 1 where attempt_id = $1", [
    attemptId,
  ]);
  expect(await storage.compact(attemptId)).toBe(1);
  expect(await archived(attemptId)).toEqual({ ...wanted(invocation, 6), parts: 1 });
});

test("a store that gives back other bytes gets no row", async () => {
  const attemptId = await storage.commit({ invocation: "liar", first: 1, last: 4, ends: true });
  const put = storage.blobs.put;
  Object.assign(storage.blobs, { put: (key: string) => put(key, Buffer.from("something else")) });
  await expect(storage.compact(attemptId)).rejects.toMatchObject({ code: "archive-broken" });
  Object.assign(storage.blobs, { put });
  expect(await storage.compact(attemptId)).toBe(1);
  expect(await storage.findings()).toEqual([]);
});

test("the job archives what ended long enough ago, in threads of its own, and passes over what fails", async () => {
  await using own = await storageBench();
  const pool = startPackPool();
  const ids: number[] = [];
  for (let nth = 0; nth < 4; nth += 1) {
    ids.push(await own.commit({ invocation: `j${nth}`, first: 1, last: 3, ends: nth !== 1 }));
  }
  await own.bench.one(
    "update stream_positions set finished_at = now() - interval '2 minutes' where finished_at is not null",
  );
  await own.bench.one("update event_segments set data = '\\x00' where attempt_id = $1", [ids[2] ?? 0]);
  const counts = { archived: 0, failed: 0 };
  const ports = { store: own.archives, blobs: own.blobs, points: noFailPoints, pack: pool.pack };
  const job = compactionJob(ports, {
    ...{ clock: systemClock, log: silentLog, endedForSeconds: 60 },
    archived: (made) => {
      counts.archived += made;
    },
    failed: () => {
      counts.failed += 1;
    },
    waiting: () => {},
  });
  const lease = await own.lease("compaction");
  await job.run(lease);
  await job.run(lease);
  await pool.close();
  expect(counts).toEqual({ archived: 2, failed: 2 });
  const rows = await own.bench.all("select attempt_id from archives order by 1");
  expect(rows.map((row) => row.attempt_id)).toEqual([ids[0], ids[3]]);
});

test("what another process's job has begun, this one's does not enter", async () => {
  const attemptId = await storage.commit({ invocation: "lease", first: 1, last: 2, ends: true });
  const lease = await storage.lease("compaction");
  const plan = await storage.archives.planNext(attemptId);
  if (plan === undefined) throw new Error("it has ended");
  const row = { ...plan, size: 1, digest: Buffer.from("00", "hex"), frames: Buffer.alloc(1) };
  const lost = storage.archives.insert(row, { ...lease, epoch: lease.epoch + 1 });
  await expect(lost).rejects.toMatchObject({ code: "lease-lost" });
  await storage.bench.one("delete from stream_positions where attempt_id = $1", [attemptId]);
  await expect(storage.archives.insert(row, lease)).rejects.toMatchObject({ code: "attempt-gone" });
});
