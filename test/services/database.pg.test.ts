import { listMigrations } from "@millrace/db/migrate";
import postgres from "postgres";
import { expect, test } from "vitest";
import { freshDatabase } from "./database.ts";

async function ask(url: string, statement: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end();
  }
}

test("a fresh database has every migration and is nobody else's", async () => {
  await using first = await freshDatabase();
  await using second = await freshDatabase();
  await ask(first.url, "create table mine (x int)");
  const applied = await ask(second.url, "select name from schema_migrations order by name");
  expect(applied).toEqual((await listMigrations()).map((name) => ({ name })));
  expect(await ask(second.url, "select to_regclass('mine') as mine")).toEqual([{ mine: null }]);
});

test("many at once, the template made only once", async () => {
  const databases = await Promise.all([1, 2, 3, 4].map(() => freshDatabase()));
  expect(new Set(databases.map((database) => database.url)).size).toBe(4);
  for (const database of databases) await database.drop();
});

test("a dropped database is gone even while somebody is connected", async () => {
  const database = await freshDatabase({ empty: true });
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await sql`select 1`;
  await database.drop();
  await expect(ask(database.url, "select 1")).rejects.toMatchObject({ code: "3D000" });
  await sql.end({ timeout: 0 });
});
