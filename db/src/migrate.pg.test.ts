import { expect, test } from "vitest";
import { freshDatabase } from "../../test/services/database.ts";
import { connect, type Sql } from "./connect.ts";
import { listMigrations, migrate } from "./migrate.ts";
import { countDaysAhead, ensurePartitions, partitionDaysAhead, partitionName } from "./partitions.ts";

async function asking<T>(url: string, action: (sql: Sql) => Promise<T>): Promise<T> {
  const database = connect({ url, max: 1, name: "migrate test" });
  try {
    return await action(database.sql);
  } finally {
    await database.close();
  }
}

test("several processes that start at once migrate once; the secret is made once", async () => {
  await using fresh = await freshDatabase({ empty: true });
  await Promise.all([migrate(fresh.url), migrate(fresh.url), migrate(fresh.url)]);
  const secretOf = (sql: Sql) => sql.unsafe("select value from settings where name = 'server_secret'");
  const before = await asking(fresh.url, secretOf);
  expect(before).toEqual([{ value: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  await migrate(fresh.url);
  await asking(fresh.url, async (sql) => {
    expect(await secretOf(sql)).toEqual([...before]);
    expect(await sql.unsafe("select name from schema_migrations")).toHaveLength(
      (await listMigrations()).length,
    );
    expect(await sql.unsafe("select id from projects")).toEqual([{ id: "default" }]);
  });
});

test("missing partitions are made again, also under rows", async () => {
  await using fresh = await freshDatabase();
  await asking(fresh.url, async (sql) => {
    expect(await countDaysAhead(sql)).toBe(partitionDaysAhead + 1);
    const [row] = await sql.unsafe("select ((now() at time zone 'utc')::date + 3)::text as day");
    await sql.unsafe(`drop table ${partitionName("log_segments", String(row?.day))}`);
    expect(await countDaysAhead(sql)).toBe(3);
    await sql.unsafe("insert into log_segments values (1, 0, 1, 0, 0, 'x', null)");
    expect(await ensurePartitions(sql)).toBe(1);
    expect(await ensurePartitions(sql)).toBe(0);
    expect(await countDaysAhead(sql)).toBe(partitionDaysAhead + 1);
  });
});

test("a segment lies in the partition of its day", async () => {
  await using fresh = await freshDatabase();
  await asking(fresh.url, async (sql) => {
    await sql.unsafe(
      "insert into event_segments (attempt_id, first_seq, last_seq, raw_bytes) values (1, 1, 1, 1)",
    );
    const [row] = await sql.unsafe(
      "select tableoid::regclass::text as partition, (now() at time zone 'utc')::date::text as day from event_segments",
    );
    expect(row?.partition).toBe(partitionName("event_segments", String(row?.day)));
  });
});
