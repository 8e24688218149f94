import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { connect, type Database } from "@millrace/db/connect";
import { tablesOfAttempts } from "@millrace/db/verify";
import { frameMessage } from "@millrace/proto/bep/frames";
import { Carry } from "@millrace/proto/pipeline";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { type Storage, verifyStorage } from "./verify-storage.ts";

const zstd = await loadZstd();
const quick = { clock: systemClock, restFactor: 0 };
let database: TestDatabase;
let pool: Database;
let directory: string;
let storage: Storage;

beforeAll(async () => {
  database = await freshDatabase();
  pool = connect({ url: database.url, max: 1, name: "test" });
  directory = await mkdtemp(join(tmpdir(), "millrace-verify-"));
  const blobs = await openDiskStore({ directory, random: systemRandom, clock: systemClock });
  storage = { sql: pool.sql, blobs, zstd };
});
afterAll(async () => {
  await pool.close();
  await database.drop();
  await rm(directory, { recursive: true });
});

beforeEach(async () => {
  for (const table of ["stream_positions", ...tablesOfAttempts])
    await pool.sql.unsafe(`delete from ${table}`);
});

/** A finished attempt of six events in two segments and a log of two lines in two pieces. */
async function storeWhole(invocationId: string): Promise<number> {
  const carry = Carry.encode({ logBytes: 10, logLines: 2 }).finish();
  const [position] = await pool.sql.unsafe(
    `insert into stream_positions (project_id, invocation_id, attempt, owner, last_event_seq, carry, node_id, finished_at)
     values ('default', $1, 1, '\\x01', 6, $2, 'n', now()) returning attempt_id`,
    [invocationId, Buffer.from(carry)],
  );
  const attemptId: number = position?.attempt_id;
  await pool.sql.unsafe(
    `insert into invocations (attempt_id, project_id, invocation_id, attempt, status, event_count, log_bytes, log_lines)
     values ($1, 'default', $2, 1, 'succeeded', 6, 10, 2)`,
    [attemptId, invocationId],
  );
  await storeEvents(attemptId, 1, 4);
  await storeEvents(attemptId, 5, 6);
  await storeLog(attemptId, { firstByte: 0, firstLine: 0, text: "one\n" });
  await storeLog(attemptId, { firstByte: 4, firstLine: 1, text: "two..\n" });
  return attemptId;
}

async function storeEvents(attemptId: number, first: number, last: number): Promise<void> {
  const raw = Buffer.concat(
    Array.from({ length: last - first + 1 }, () => frameMessage(Buffer.from("event"))),
  );
  await pool.sql.unsafe(
    "insert into event_segments (attempt_id, first_seq, last_seq, raw_bytes, data) values ($1, $2, $3, $4, $5)",
    [attemptId, first, last, raw.length, Buffer.from(await zstd.compress(raw, 1))],
  );
}

async function storeLog(attemptId: number, piece: { firstByte: number; firstLine: number; text: string }) {
  const { firstByte, firstLine, text } = piece;
  await pool.sql.unsafe(
    `insert into log_segments (attempt_id, first_byte, byte_count, first_line, line_count, data)
     values ($1, $2, $3, $4, 1, $5)`,
    [attemptId, firstByte, text.length, firstLine, Buffer.from(await zstd.compress(Buffer.from(text), 1))],
  );
}

async function findings(deep = true): Promise<string[]> {
  const kinds: string[] = [];
  await verifyStorage(storage, { ...quick, deep, onFinding: (finding) => kinds.push(finding.kind) });
  return kinds;
}

test("what is whole has no findings, at a glance or deep", async () => {
  await storeWhole("a");
  await storeWhole("b");
  expect(await findings(false)).toEqual([]);
  const verification = await verifyStorage(storage, { ...quick, deep: true, onFinding: () => {} });
  expect(verification).toMatchObject({ attempts: 2, segments: 8, notes: { deadLetters: 0, holes: 0 } });
  expect(await findings()).toEqual([]);
});

test.each<[string, string, string[]]>([
  ["a segment that is gone", "delete from event_segments where first_seq = 1", ["events-not-contiguous"]],
  ["the last segment gone", "delete from event_segments where first_seq = 5", ["events-not-at-position"]],
  [
    "a segment twice",
    "insert into event_segments select * from event_segments where first_seq = 1",
    ["events-not-contiguous"],
  ],
  ["a piece of the log gone", "delete from log_segments where first_byte = 0", ["log-not-continuous"]],
  [
    "the end of the log gone",
    "delete from log_segments where first_byte = 4",
    ["log-not-at-carry", "totals-not-right"],
  ],
  ["no final status", "update invocations set status = 'running'", ["status-not-final"]],
  ["a row in invocations gone", "delete from invocations", ["row-missing"]],
  ["an attempt gone", "delete from stream_positions", ["orphan-rows", "orphan-rows", "orphan-rows"]],
  ["a segment without data", "update log_segments set data = null where first_byte = 0", ["blob-missing"]],
  [
    "a blob that is not there",
    "update event_segments set data = null, staged_key = 'default/staged/1/1-0' where first_seq = 1",
    ["blob-missing"],
  ],
])("%s is found at a glance", async (_, damage, kinds) => {
  await storeWhole("a");
  await pool.sql.unsafe(damage);
  expect(await findings(false)).toEqual(kinds);
});

test("a recorded hole is no hole", async () => {
  const attemptId = await storeWhole("a");
  await pool.sql.unsafe("delete from event_segments where first_seq = 1");
  await pool.sql.unsafe("insert into stream_holes (attempt_id, first_seq, last_seq) values ($1, 1, 4)", [
    attemptId,
  ]);
  expect(await findings(false)).toEqual([]);
});

test.each<[string, string]>([
  ["other bytes", "update event_segments set data = '\\x00' where first_seq = 1"],
  ["another length", "update event_segments set raw_bytes = raw_bytes + 1 where first_seq = 1"],
  ["another count of lines", "update log_segments set line_count = 2, first_line = first_line * 2"],
])("%s inside a segment are found when it looks deep", async (_, damage) => {
  await storeWhole("a");
  await pool.sql.unsafe(damage);
  expect(await findings()).toContain("segment-damaged");
});

test("another count of events inside a segment is found when it looks deep", async () => {
  const attemptId = await storeWhole("a");
  await pool.sql.unsafe("delete from event_segments where first_seq = 1");
  await storeEvents(attemptId, 1, 3);
  await pool.sql.unsafe("update event_segments set last_seq = 4 where first_seq = 1");
  expect(await findings(false)).toEqual([]);
  expect(await findings()).toEqual(["segment-damaged"]);
});
