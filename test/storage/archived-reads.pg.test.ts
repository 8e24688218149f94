import { createHash, randomBytes } from "node:crypto";
import { archiveKey } from "@millrace/blobs/blob-key";
import { google } from "@millrace/proto/gen/bes";
import { packArchive, type SegmentToPack } from "@millrace/writer/archive/pack-archive";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../seed/api-server.ts";
import { type SeededBuild, seedBuild } from "../seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../services/database.ts";

let store: TestDatabase;
let server: ApiServer;

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.drop();
});

const lines = Array.from(
  { length: 90 },
  (_, at) => `${at} ${randomBytes((at * 37) % 400).toString("hex")}\n`,
);
const whole = Buffer.from(`${lines.join("")}no line feed at the end`);
const event = (at: number): Uint8Array =>
  google.devtools.build.v1.BuildEvent.encode({ eventTime: { seconds: at, nanos: 0 } }).finish();

/** A build of 30 events and 90 lines in segments of a few. */
async function seeded(invocationId: string): Promise<SeededBuild> {
  const build = await seedBuild(server, { invocationId });
  for (let at = 0; at < 30; at += 3) await build.events([event(at), event(at + 1), event(at + 2)]);
  for (let at = 0; at < 90; at += 9) await build.log(lines.slice(at, at + 9).join(""));
  await build.log("no line feed at the end");
  await build.end({ status: "succeeded" });
  return build;
}

/** Puts the first segments into an archive, as compaction does, and drops them from the tables, as days are. */
async function archive(build: SeededBuild, of: { events: number; log: number }): Promise<void> {
  const { sql } = server.database;
  const segments = async (text: string, limit: number): Promise<SegmentToPack[]> => {
    const rows = await sql.unsafe(text, [build.attemptId, limit]);
    return rows.map((row) => ({ first: row.first, count: row.count, rawBytes: row.bytes, packed: row.data }));
  };
  const events = await segments(
    `select first_seq as first, last_seq - first_seq + 1 as count, raw_bytes as bytes, data
     from event_segments where attempt_id = $1 order by 1 limit $2`,
    of.events,
  );
  const log = await segments(
    `select first_byte as first, line_count as count, byte_count as bytes, data
     from log_segments where attempt_id = $1 order by 1 limit $2`,
    of.log,
  );
  const start = { firstSeq: 1, firstByte: 0, firstLine: 0 };
  const { attemptId } = build;
  const packed = await packArchive(
    { project: "default", attemptId, start, events, log, level: 3 },
    server.zstd,
  );
  const digest = createHash("sha256").update(packed.bytes).digest("hex");
  const last = events.reduce((sum, one) => sum + one.count, 0);
  await server.blobs.put(
    archiveKey({ prefix: "default", attempt: attemptId, first: 1, last, digest }),
    packed.bytes,
  );
  const byteCount = log.reduce((sum, one) => sum + one.rawBytes, 0);
  await sql.unsafe(
    `insert into archives (attempt_id, part, prefix, first_seq, last_seq, raw_bytes, first_byte, byte_count, first_line,
       line_count, size, digest, frames)
     values ($1, 1, 'default', 1, $2, 0, 0, $3, 0, $4, $5, decode($6, 'hex'), $7)`,
    [
      attemptId,
      last,
      byteCount,
      log.reduce((sum, one) => sum + one.count, 0),
      packed.bytes.length,
      digest,
      Buffer.from(packed.frames),
    ],
  );
  await sql.unsafe("delete from event_segments where attempt_id = $1 and last_seq <= $2", [attemptId, last]);
  await sql.unsafe("delete from log_segments where attempt_id = $1 and first_byte < $2", [
    attemptId,
    byteCount,
  ]);
}

const cases = [
  { name: "nothing-archived", events: 0, log: 0 },
  { name: "half-archived", events: 4, log: 5 },
  { name: "all-archived", events: 10, log: 11 },
];

function get(build: SeededBuild, rest: string): Promise<Response> {
  return server.fetch(`/api/v1/projects/default/invocations/${build.invocationId}${rest}`);
}

test.each(cases)("$name: the log by bytes and by lines, and the events, are the same", async (one) => {
  const build = await seeded(one.name);
  if (one.events > 0) await archive(build, one);
  const bytes = async (rest: string) => Buffer.from(await (await get(build, rest)).arrayBuffer());
  expect((await bytes("/log")).equals(whole)).toBe(true);
  for (const [from, to] of [
    [0, 1],
    [10, 5_000],
    [4_990, 9_000],
    [whole.length - 3, whole.length],
  ] as const) {
    const part = await bytes(`/log?from_byte=${from}&to_byte=${to}`);
    expect(part.equals(whole.subarray(from, to)), `${from}-${to}`).toBe(true);
  }
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [44, 46],
    [8, 9],
    [9, 10],
    [0, 90],
    [89, 95],
    [90, 91],
  ] as const) {
    const text = `${lines.slice(from, to).join("")}${to > 90 ? "no line feed at the end" : ""}`;
    const answer = await get(build, `/log?from_line=${from}&to_line=${to}`);
    expect(answer.headers.get("millrace-log-from")).toBe(String(lines.slice(0, from).join("").length));
    expect(await answer.text(), `lines ${from} to ${to}`).toBe(text);
  }
  expect(await (await get(build, "/log?from_line=400")).text()).toBe("");
  expect(
    (await bytes("/log?from_line=80")).equals(
      Buffer.from(`${lines.slice(80).join("")}no line feed at the end`),
    ),
  ).toBe(true);
  const { events } = (await (await get(build, "/events?limit=100")).json()) as {
    events: { sequence: number; time: string }[];
  };
  expect(events.map((found) => found.sequence)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
  expect(events[29]?.time).toBe(new Date(29_000).toISOString());
  const some = (await (await get(build, "/events?limit=5&after=10")).json()) as {
    events: { sequence: number }[];
  };
  expect(some.events.map((found) => found.sequence)).toEqual([11, 12, 13, 14, 15]);
});

test("what retention has deleted is gone, and that is said", async () => {
  const build = await seeded("expired");
  await archive(build, { events: 10, log: 11 });
  await server.database.sql.unsafe(
    "update archives set expired_at = now(), frames = '' where attempt_id = $1",
    [build.attemptId],
  );
  for (const rest of ["/log", "/events", "/bep", "/log?from_line=3"]) {
    const answer = await get(build, rest);
    expect([rest, answer.status]).toEqual([rest, 410]);
    expect(((await answer.json()) as { code: string }).code).toBe("segment-expired");
  }
});
