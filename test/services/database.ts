import { randomUUID } from "node:crypto";
import { migrate } from "@millrace/db/migrate";
import postgres from "postgres";
import { inject } from "vitest";

const templateName = "millrace_template";

/** Any number will do; it keeps two test files from making the template at once. */
const templateLock = 7_401_001;

/** A database of one test's own. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, with whatever is still connected. Optional: the whole server goes at the end of the run. */
  drop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A new database on the run's PostgreSQL: a copy of a template to which all migrations were applied once, or an
 * empty one.
 */
export async function freshDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `t_${randomUUID().replaceAll("-", "")}`;
  await asAdmin(async (sql) => {
    if (!options.empty) await ensureTemplate(sql);
    const template = options.empty ? "template0" : templateName;
    await sql.unsafe(`create database ${name} template ${template} strategy file_copy`);
  });
  const drop = () =>
    asAdmin(async (sql) => void (await sql.unsafe(`drop database if exists ${name} (force)`)));
  return { url: urlOf(name), drop, [Symbol.asyncDispose]: drop };
}

function urlOf(database: string): string {
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${database}`;
  return url.href;
}

async function asAdmin(action: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const sql = postgres(urlOf("postgres"), { max: 1, onnotice: () => {} });
  try {
    await action(sql);
  } finally {
    await sql.end();
  }
}

/** The template appears by a rename, so one that is there is whole. */
async function ensureTemplate(sql: postgres.Sql): Promise<void> {
  if (await exists(sql)) return;
  await sql`select pg_advisory_lock(${templateLock})`;
  if (await exists(sql)) return; // The lock goes with the connection.
  const unfinished = `${templateName}_new`;
  await sql.unsafe(`drop database if exists ${unfinished} (force)`);
  await sql.unsafe(`create database ${unfinished} template template0`);
  await migrate(urlOf(unfinished));
  await sql.unsafe(`alter database ${unfinished} with allow_connections false`);
  await sql.unsafe(`alter database ${unfinished} rename to ${templateName}`);
}

async function exists(sql: postgres.Sql): Promise<boolean> {
  const rows = await sql`select 1 from pg_database where datname = ${templateName}`;
  return rows.length > 0;
}
