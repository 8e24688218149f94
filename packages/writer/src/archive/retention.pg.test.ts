import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { tablesOfAttempts } from "@millrace/db/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pruneJob } from "./prune-blobs.ts";
import { retentionJob } from "./retention-job.ts";
import { type StorageBench, storageBench } from "./storage.fixture.ts";

let storage: StorageBench;
beforeEach(async () => {
  storage = await storageBench();
});
afterEach(() => storage[Symbol.asyncDispose]());

/** An archived build that ended so many days ago; undefined: one that runs since then. */
async function build(of: {
  name: string;
  daysAgo: number;
  project?: string;
  runs?: boolean;
}): Promise<number> {
  const { name: invocation, project = "default" } = of;
  const attemptId = await storage.commit({ invocation, project, first: 1, last: 3, ends: of.runs !== true });
  await storage.compact(attemptId);
  const old = "now() - make_interval(days => $2)";
  await storage.bench.one(
    `update stream_positions set opened_at = ${old}, finished_at = case when finished_at is null then null else ${old} end
     where attempt_id = $1`,
    [attemptId, of.daysAgo],
  );
  return attemptId;
}

async function expire(): Promise<void> {
  const job = retentionJob({
    ...{ store: storage.retention, blobs: storage.blobs, clock: systemClock, log: silentLog },
  });
  await job.run(await storage.lease(job.name));
}

async function keys(prefix = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of storage.blobs.list(prefix)) found.push(key);
  return found;
}

async function attemptsIn(table: string): Promise<unknown[]> {
  const rows = await storage.bench.all(`select distinct attempt_id from ${table} order by 1`);
  return rows.map((row) => row.attempt_id);
}

test("raw archives go after 14 days, builds after 90, running ones never; each project has its own settings", async () => {
  await storage.bench.one(
    "insert into projects (id, name, raw_days, build_days) values ('brief', 'brief', 2, 5)",
  );
  const runs = await build({ name: "runs", daysAgo: 400, runs: true });
  await build({ name: "ancient", daysAgo: 91 });
  await build({ name: "brief-old", daysAgo: 6, project: "brief" });
  const raw = await build({ name: "old", daysAgo: 15 });
  const brief = await build({ name: "brief", daysAgo: 3, project: "brief" });
  const fresh = await build({ name: "fresh", daysAgo: 13 });
  const briefFresh = await build({ name: "brief-fresh", daysAgo: 1, project: "brief" });
  await expire();
  expect(await attemptsIn("stream_positions")).toEqual([runs, raw, brief, fresh, briefFresh]);
  expect(await attemptsIn("invocations")).toEqual([runs, raw, brief, fresh, briefFresh]);
  expect(await attemptsIn("archives where expired_at is null")).toEqual([fresh, briefFresh]);
  expect(await attemptsIn("archives where expired_at is not null")).toEqual([raw, brief]);
  expect(await keys()).toHaveLength(2);
  await storage.bench.one("delete from event_segments where attempt_id <> $1", [runs]);
  await storage.bench.one("delete from log_segments where attempt_id <> $1", [runs]);
  expect(await storage.findings()).toEqual([]);
  await expire();
  expect(await keys()).toHaveLength(2);
});

test("a build that somebody works on is left for another time", async () => {
  const attemptId = await build({ name: "busy", daysAgo: 100 });
  const { lane } = storage.bench.newContext();
  await lane.transact(async (tx) => {
    await tx.unsafe("select 1 from stream_positions where attempt_id = $1 for update", [attemptId]);
    await expire();
  });
  expect(await attemptsIn("stream_positions")).toEqual([attemptId]);
  await expire();
  expect(await attemptsIn("stream_positions")).toEqual([]);
});

test("more than one batch is deleted in one run", async () => {
  for (let nth = 0; nth < 45; nth += 1) {
    const attemptId = await storage.commit({ invocation: `b${nth}`, first: 1, last: 1, ends: true });
    expect(attemptId).toBeGreaterThan(0);
  }
  const old = "now() - interval '100 days'";
  await storage.bench.one(`update stream_positions set opened_at = ${old}, finished_at = ${old}`);
  await expire();
  for (const table of ["stream_positions", ...tablesOfAttempts]) expect(await attemptsIn(table)).toEqual([]);
});

test("every table that names an attempt is one that retention empties and verification looks at", async () => {
  const rows = await storage.bench.all(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where a.attname = 'attempt_id' and not a.attisdropped and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = 'public'::regnamespace order by 1`,
  );
  const known = ["dead_letters", "stream_positions", ...tablesOfAttempts].sort();
  expect(rows.map((row) => row.name).filter((name) => !known.includes(String(name)))).toEqual([]);
});

test("blobs that no row names go after 7 days, and not a day before", async () => {
  const attemptId = await storage.commit({ invocation: "staged", first: 1, last: 3 });
  const owned = "default/staged/6f776e6572/1-events-aa";
  await storage.bench.one("update event_segments set data = null, staged_key = $1", [owned]);
  const digest = "0".repeat(64);
  const unowned = [
    "default/staged/6f776e6572/9-events-bb",
    `default/staged/${attemptId}/9-log-cc`,
    `default/archives/${attemptId}/1-3-${digest}`,
  ];
  for (const key of [owned, ...unowned]) await storage.blobs.put(key, Buffer.from("x"));
  const prune = async (inDays: number): Promise<void> => {
    const clock = new ScriptedClock(systemClock.now() + inDays * 86_400_000);
    const job = pruneJob({ ...{ store: storage.retention, blobs: storage.blobs, clock, log: silentLog } });
    await job.run(await storage.lease(job.name));
  };
  await prune(6.9);
  expect(await keys()).toHaveLength(4);
  await prune(7.1);
  expect(await keys()).toEqual([owned]);
});
