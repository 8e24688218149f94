import { appendFile, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { connect, type Database } from "@millrace/db/connect";
import { migrate } from "@millrace/db/migrate";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { checkRun, type OracleOptions } from "../../bench/oracle/check-run.ts";
import type { FindingKind, Verdict } from "../../bench/oracle/verdict.ts";
import type { Workload } from "../../bench/workloads/workload.ts";
import { workloadNamed } from "../../bench/workloads/workloads.ts";
import { startDurablePostgres } from "./durable-postgres.ts";
import { keepTables, restoreTables } from "./kept-tables.ts";
import { storeLogged } from "./logged-uploads.ts";

const tiny = workloadNamed("tiny");
const real = workloadNamed("real");
const eventsPerBuild = tiny.eventsPerBuild;
const workloads = (name: string): Workload => (name === "tiny" ? tiny : real);

let postgres: Awaited<ReturnType<typeof startDurablePostgres>>;
let database: Database;
let directory: string;
let log: string;

beforeAll(async () => {
  postgres = await startDurablePostgres();
  directory = await mkdtemp(path.join(tmpdir(), "millrace-oracle-log-"));
  await migrate(postgres.url);
  const uploads = [
    { invocationId: "passed", workload: tiny, variant: 0, breaksAfter: [15, 30] },
    { invocationId: "flaky", workload: tiny, variant: 3 },
    { invocationId: "test-failed", workload: tiny, variant: 5 },
    { invocationId: "build-failed", workload: tiny, variant: 9 },
    { invocationId: "died", workload: tiny, variant: 1, breaksAfter: [20, 27], dies: true },
    { invocationId: "real", workload: real, variant: 2 },
  ];
  log = await storeLogged(uploads, { databaseUrl: postgres.url, directory });
  database = connect({ url: postgres.url, max: 1, name: "oracle-test" });
  await keepTables(database.sql);
});

afterEach(() => restoreTables(database.sql));

afterAll(async () => {
  await database.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The oracle's verdict on the sound run after `text` was run on it. */
async function verdictAfter(text: string, options: Partial<OracleOptions> = {}): Promise<Verdict> {
  if (text !== "") await database.sql.unsafe(text);
  return await checkRun({ logs: [log], databaseUrl: postgres.url, workloads, ...options });
}

test("a run in which nothing is wrong is clean", async () => {
  const stored = 4 * eventsPerBuild + 600 + 27;
  expect(await verdictAfter("")).toMatchObject({
    ...{
      verdict: "clean",
      reason: "",
      builds: 6,
      compared: 6,
      findings: [],
      counts: {},
      lost: 0,
      doubled: 0,
    },
    ...{ eventsStored: stored, eventsCompared: stored, eventsAcked: stored },
  });
});

const of = (invocationId: string): string =>
  `attempt_id = (select attempt_id from invocations where invocation_id = '${invocationId}')`;
const otherByte = "set_byte(data, length(data) - 9, get_byte(data, length(data) - 9) # 1)";

const breaks: readonly (readonly [name: string, text: string, kind: FindingKind, detail: RegExp])[] = [
  [
    "a segment in the middle is deleted",
    `delete from event_segments where ${of("passed")} and first_seq = 16`,
    "lost",
    /^passed: events 16 … 30 are missing before the segment 31/,
  ],
  [
    "the last segment is deleted",
    `delete from event_segments where ${of("passed")} and last_seq = 44`,
    "lost",
    /^passed: events 31 … 44 have no segment/,
  ],
  [
    "a segment is stored twice",
    `insert into event_segments select * from event_segments where ${of("passed")} and first_seq = 16`,
    "doubled",
    /^passed: 15 events of the segment 16 … 30 are stored before/,
  ],
  [
    "segments overlap",
    `update event_segments set first_seq = 14 where ${of("passed")} and first_seq = 16`,
    "doubled",
    /^passed: 2 events of the segment 14 … 30 are stored before, up to 15/,
  ],
  [
    "one byte of a segment is another",
    `update event_segments set data = ${otherByte} where ${of("died")} and first_seq = 1`,
    "changed",
    /^died: (event \d+: \d+ bytes, not the \d+ sent|the segment .* no whole zstd frame)/,
  ],
  [
    "a segment has the content of another build",
    `update event_segments set data = (select data from event_segments where ${of("flaky")} limit 1) where ${of("test-failed")}`,
    "changed",
    /^test-failed: event \d+: \d+ bytes, not the \d+ sent/,
  ],
  [
    "a segment says another size",
    `update event_segments set raw_bytes = raw_bytes + 1 where ${of("flaky")}`,
    "changed",
    /^flaky: the segment .* its row says/,
  ],
  [
    "a target is dropped",
    `delete from targets where ctid = (select ctid from targets where ${of("real")} limit 1)`,
    "rows",
    /^real: targets: \/\/.* is missing/,
  ],
  [
    "a target is too many",
    `insert into targets (attempt_id, label, aspect, configuration, status) select attempt_id, '//x:y', '', '', 4 from invocations where invocation_id = 'real'`,
    "rows",
    /^real: targets: \/\/x:y .* is extra/,
  ],
  [
    "a target has another time",
    `update targets set completed_at = completed_at + interval '1 millisecond' where ${of("died")}`,
    "rows",
    /^died: targets: .* completedAtMs is \d+ where \d+ is expected/,
  ],
  [
    "a test result has another status",
    `update test_results set status = 3 where ${of("test-failed")}`,
    "rows",
    /^test-failed: testResults: .* status is 3 where 4/,
  ],
  [
    "the outputs of a test are gone",
    `update test_results set outputs = '[]' where ${of("real")}`,
    "rows",
    /^real: testResults: .* outputs is \[\]/,
  ],
  [
    "a summary is dropped",
    `delete from test_summaries where ${of("passed")}`,
    "rows",
    /^passed: testSummaries: .* is missing/,
  ],
  [
    "a counter is wrong",
    "update invocations set tests_flaky = tests_flaky + 1 where invocation_id = 'flaky'",
    "rows",
    /^flaky: invocation: counters is/,
  ],
  [
    "a failed build is told as good",
    "update invocations set status = 'succeeded' where invocation_id = 'build-failed'",
    "status",
    /^build-failed: its status is succeeded where failed is expected/,
  ],
  [
    "a finished build still runs",
    "update invocations set status = 'running' where invocation_id = 'passed'",
    "status",
    /^passed: its status is running/,
  ],
  [
    "a build without its end is told as ended",
    "update invocations set status = 'aborted' where invocation_id = 'died'",
    "status",
    /^died: its status is aborted though its end is not stored/,
  ],
  [
    "a position is lower than what was acknowledged",
    `update stream_positions set last_event_seq = 26 where ${of("died")}`,
    "lost",
    /^died: event 27 was acknowledged, the position is 26/,
  ],
  [
    "a position is higher than what is stored",
    `update stream_positions set last_event_seq = 30 where ${of("died")}`,
    "lost",
    /^died: events 28 … 30 have no segment/,
  ],
  [
    "an end is not marked",
    `update stream_positions set finished_at = null where ${of("flaky")}`,
    "position",
    /^flaky: 44 of 44 events are stored, but its end does not count/,
  ],
  [
    "an invocation has a second attempt",
    `insert into stream_positions (project_id, invocation_id, attempt, build_id, owner, node_id, last_event_seq)
       select project_id, invocation_id, 2, build_id, owner, node_id, 0 from stream_positions where ${of("flaky")};
     insert into invocations (attempt_id, project_id, invocation_id, attempt, build_id)
       select max(attempt_id), 'default', 'flaky', 2, 'build-of-flaky' from stream_positions`,
    "doubled",
    /^flaky: it has a further attempt 2/,
  ],
  [
    "there is an invocation nobody sent",
    `insert into stream_positions (project_id, invocation_id, attempt, owner, node_id) values ('default', 'stranger', 1, '', '');
     insert into invocations (attempt_id, project_id, invocation_id, attempt)
       select max(attempt_id), 'default', 'stranger', 1 from stream_positions`,
    "extra",
    /^stranger: an invocation of project default with 0 events/,
  ],
  [
    "a whole build is gone",
    `delete from event_segments where ${of("flaky")}; delete from log_segments where ${of("flaky")};
     delete from targets where ${of("flaky")}; delete from test_results where ${of("flaky")};
     delete from test_summaries where ${of("flaky")}; delete from stream_positions where ${of("flaky")};
     delete from invocations where invocation_id = 'flaky'`,
    "lost",
    /^flaky: nothing of it is stored, 44 events were acknowledged/,
  ],
  [
    "an attempt has no invocation",
    "delete from invocations where invocation_id = 'passed'",
    "extra",
    /has no row in invocations/,
  ],
  [
    "rows belong to nobody",
    `update log_segments set attempt_id = 999999 where ${of("real")}`,
    "extra",
    /^: \d+ rows in log_segments of attempt 999999/,
  ],
  [
    "a piece of the log is gone",
    `delete from log_segments where ${of("passed")} and first_byte > 0`,
    "log",
    /^passed: the log has \d+ bytes and \d+ lines, not \d+/,
  ],
  [
    "a piece of the log begins elsewhere",
    `update log_segments set first_byte = first_byte + 1 where ${of("passed")} and first_byte > 0`,
    "log",
    /^passed: the log's bytes \d+ … \d+ follow byte/,
  ],
  [
    "the log's lines jump",
    `update log_segments set first_line = first_line + 1 where ${of("passed")} and first_byte > 0`,
    "log",
    /^passed: the log's bytes .* begin at line/,
  ],
  [
    "the log is that of another build",
    `update log_segments set data = (select data from log_segments where ${of("flaky")} limit 1) where ${of("passed")} and first_byte = 0`,
    "log",
    /^passed: the log's bytes 0 .* are not the text that was sent/,
  ],
  [
    "a batch was set aside",
    `insert into dead_letters (project_id, invocation_id, attempt_id, first_seq, last_seq, outcome, sql_state, cause)
       select project_id, invocation_id, attempt_id, 3, 4, 'partial', '22021', 'why' from invocations where invocation_id = 'flaky'`,
    "dead-letter",
    /^flaky: events 3 … 4 were set aside \(partial\): why/,
  ],
  [
    "a hole was allowed",
    "insert into stream_holes (attempt_id, first_seq, last_seq) select attempt_id, 2, 3 from invocations where invocation_id = 'flaky'",
    "hole",
    /^flaky: attempt \d+ has a hole at 2 … 3/,
  ],
  [
    "a stranger made lifecycle calls",
    `insert into lifecycle_events (project_id, build_id, invocation_id, component, last_sequence, attempt_number)
       values ('default', 'whose', '', 1, 1, 0)`,
    "extra",
    /lifecycle calls of build whose/,
  ],
];

test.each(breaks)("it is found when %s", async (_, text, kind, detail) => {
  const verdict = await verdictAfter(text);
  expect(verdict.verdict).toBe("findings");
  expect(verdict.counts[kind]).toBeGreaterThan(0);
  const found = verdict.findings.filter((one) => one.kind === kind);
  expect(found.map((one) => `${one.invocationId}: ${one.detail}`)).toContainEqual(
    expect.stringMatching(detail),
  );
});

test("a sample spares bytes and rows of the others, never their ranges", async () => {
  const targets = `delete from targets where ${of("flaky")}`;
  const segment = `delete from event_segments where ${of("flaky")}`;
  expect(await verdictAfter(targets, { sample: 1 })).toMatchObject({ verdict: "clean", compared: 2 });
  expect(await verdictAfter(segment, { sample: 1 })).toMatchObject({ lost: eventsPerBuild });
});

test("content in the blob store is read there, and missed when it is gone", async () => {
  const blobDir = path.join(directory, "blobs");
  const blobs = await openDiskStore({ directory: blobDir, random: systemRandom, clock: systemClock });
  const where = `where ${of("flaky")} and first_seq = 1`;
  const [segment] = await database.sql.unsafe(`select data from event_segments ${where}`);
  await blobs.put("default/staged/1/1-x", segment?.["data"]);
  const staging = `update event_segments set data = null, staged_key = 'default/staged/1/1-x' ${where}`;
  expect(await verdictAfter(staging, { blobDir })).toMatchObject({ verdict: "clean" });
  await blobs.delete("default/staged/1/1-x");
  const { findings } = await verdictAfter("", { blobDir });
  expect(findings[0]).toMatchObject({ kind: "lost", detail: expect.stringMatching(/1-x is not there$/) });
});

test("events that were never sent, and acks that are not stored, are told from the log", async () => {
  const other = path.join(directory, "other.log");
  await copyFile(log, other);
  const end = {
    kind: "end",
    invocationId: "died",
    outcome: "died",
    sent: 25,
    acked: 20,
    resent: 0,
    message: "",
  };
  const acked = { kind: "acked", invocationId: "died", to: 28 };
  await appendFile(other, `${JSON.stringify(end)}\n${JSON.stringify(acked)}\n{"kind":"ack`);
  const { counts, lost } = await verdictAfter("", { logs: [other] });
  expect([counts, lost]).toEqual([{ lost: 1, beyond: 1 }, 1]);
});

test("it refuses to judge a server that does not sync, and a database that asks for less", async () => {
  const elsewhere = await verdictAfter("", { databaseUrl: inject("postgresUrl") });
  expect(elsewhere).toMatchObject({ verdict: "refused", reason: "not durable: fsync is off" });
  const { reason } = await verdictAfter("alter database millrace set synchronous_commit = off");
  expect(reason).toMatch(/synchronous_commit is off/);
  await database.sql.unsafe("alter database millrace reset synchronous_commit");
});

test("it refuses to judge a run of a workload that is another now", async () => {
  const changed = (name: string): Workload => ({ ...workloads(name), hash: "0123456789abcdef" });
  const { verdict, reason } = await verdictAfter("", { workloads: changed });
  expect(verdict).toBe("refused");
  expect(reason).toBe(`the run was made with workload tiny ${tiny.hash}, here it is 0123456789abcdef`);
});

test("it refuses to call a run clean in which nothing was built", async () => {
  const empty = path.join(directory, "empty.log");
  await writeFile(empty, `${JSON.stringify({ kind: "run", startedAtMs: systemClock.now() })}\n`);
  const { verdict, reason } = await verdictAfter("", { logs: [empty] });
  expect([verdict, reason]).toEqual(["refused", "the log has no build: it proves nothing"]);
});
