import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { systemRandom } from "@millrace/base/random";
import type { Executor } from "./connect.ts";
import { openLane } from "./lane.ts";
import { ensurePartitions } from "./partitions.ts";

const migrationsDirectory = path.join(import.meta.dirname, "../migrations");

/** The project that open mode writes to. */
export const defaultProject = "default";

/** "millrace" in ASCII: the advisory lock under which migrations run. */
const migrationLock = "7883954086764733285";

/** For one statement, and for the wait until another process has migrated. */
const migrationMsMax = 600_000;

const serverSecretBytes = 32;

/**
 * Brings a database to the newest schema: applies the files of `migrations/` that it has not seen, creates the
 * partitions of the coming days, the project `default` and the server secret. One transaction under an advisory
 * lock: several processes may start at once, and a failure leaves the database as it was.
 */
export async function migrate(url: string): Promise<void> {
  const lane = openLane({ url, name: "millrace-migrate", timeoutMs: migrationMsMax });
  try {
    await lane.transact(async (tx) => {
      await tx.unsafe(`select pg_advisory_xact_lock(${migrationLock})`);
      await applyPending(tx);
      await ensurePartitions(tx);
      await createDefaults(tx);
    });
  } finally {
    await lane.close();
  }
}

/** File names of all migrations, in the order in which they are applied. */
export async function listMigrations(): Promise<string[]> {
  const names = await readdir(migrationsDirectory);
  return names.filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
}

async function applyPending(executor: Executor): Promise<void> {
  await executor.unsafe(
    "create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())",
  );
  const applied = await executor.unsafe("select name from schema_migrations");
  const seen = new Set(applied.map((row) => row.name));
  for (const name of await listMigrations()) {
    if (seen.has(name)) continue;
    await executor.unsafe(await readFile(path.join(migrationsDirectory, name), "utf8"));
    await executor.unsafe("insert into schema_migrations (name) values ($1)", [name]);
  }
}

async function createDefaults(executor: Executor): Promise<void> {
  await executor.unsafe("insert into projects (id, name) values ($1, $1) on conflict do nothing", [
    defaultProject,
  ]);
  await executor.unsafe(
    "insert into settings (name, value) values ('server_secret', to_jsonb($1::text)) on conflict do nothing",
    [Buffer.from(systemRandom.bytes(serverSecretBytes)).toString("hex")],
  );
}
