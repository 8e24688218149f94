import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { natsUrl } from "../../../../test/services/nats.ts";
import { storagePointNames } from "../failpoints.ts";
import { verifyStorage } from "../verify/verify-storage.ts";
import { type StorageBench, storageBench } from "./storage.fixture.ts";

let storage: StorageBench;
let directory: string;
let children: ChildProcess[];

beforeEach(async () => {
  storage = await storageBench();
  directory = await mkdtemp(join(tmpdir(), "millrace-kill-"));
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, "exit")));
  await storage[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

function startWriter(environment: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts")], {
    env: {
      MILLRACE_DATABASE_URL: storage.bench.url,
      MILLRACE_NATS_URL: natsUrl(),
      MILLRACE_BLOB_DIRECTORY: directory,
      MILLRACE_LOG_LEVEL: "error",
      MILLRACE_COMPACT_AFTER_SECONDS: "0",
      ...environment,
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.push(child);
  return child;
}

/** An ended build and one that runs, all of whose segments lie in a day that is to be dropped. */
async function buildsOfThePast(): Promise<{ ended: number; running: number }> {
  const ended = await storage.commit({ invocation: "ended", first: 1, last: 6, ends: true });
  const running = await storage.commit({ invocation: "running", first: 1, last: 4 });
  const day = "(now() at time zone 'utc')::date - 3";
  const [names] = await storage.bench.all(
    `select to_char(${day}, 'YYYYMMDD') as day, (${day})::text as "from", (${day} + 1)::text as "to"`,
  );
  for (const table of ["event_segments", "log_segments"]) {
    const name = `${table}_${names?.day}`;
    await storage.bench.one(
      `create table ${name} partition of ${table} for values from ('${names?.from}') to ('${names?.to}')`,
    );
    await storage.bench.one(`update ${table} set commit_day = ${day}`);
  }
  return { ended, running };
}

const pastText = `select count(*) as n from pg_class where relkind = 'r' and relname in (
  select t || '_' || to_char((now() at time zone 'utc')::date - 3, 'YYYYMMDD')
  from unnest(array['event_segments', 'log_segments']) t)`;

test.each(storagePointNames)(
  "killed at %s, the next writer finishes the work and nothing is lost",
  async (name) => {
    const { ended, running } = await buildsOfThePast();
    const dying = startWriter({ MILLRACE_FAIL_POINT: name });
    expect(await once(dying, "exit")).toEqual([null, "SIGKILL"]);
    // Its leases are as good as those of a process that lives.
    await storage.bench.one("update job_leases set lease_until = now()");
    startWriter({});
    await expect
      .poll(async () => (await storage.bench.one(pastText))?.n, { timeout: 120_000, interval: 200 })
      .toBe(0);
    expect(await storage.bench.all("select attempt_id, first_seq, last_seq from archives")).toEqual([
      { attempt_id: ended, first_seq: 1, last_seq: 6 },
    ]);
    const left = await storage.bench.all(
      "select attempt_id, last_seq, commit_day = (now() at time zone 'utc')::date as today from event_segments",
    );
    expect(left).toEqual([{ attempt_id: running, last_seq: 4, today: true }]);
    const blobs = await openDiskStore({ directory, random: systemRandom, clock: systemClock });
    const found: string[] = [];
    await verifyStorage(
      { sql: storage.bench.database.sql, blobs, zstd: await loadZstd() },
      { deep: true, clock: systemClock, restFactor: 0, onFinding: (finding) => found.push(finding.message) },
    );
    expect(found).toEqual([]);
    const objects: string[] = [];
    for await (const { key } of blobs.list("")) objects.push(key);
    expect(objects).toHaveLength(1);
  },
);
