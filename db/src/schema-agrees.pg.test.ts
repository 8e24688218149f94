import { readdir } from "node:fs/promises";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../test/services/database.ts";
import { connect, type Database } from "./connect.ts";

let fresh: TestDatabase;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url, max: 1, name: "schema test" });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

async function describedTables(): Promise<PgTable[]> {
  const names = await readdir(`${import.meta.dirname}/schema`);
  const tables = names.flatMap((name) => /^([a-z-]+)\.ts$/.exec(name)?.[1] ?? []);
  const modules: object[] = await Promise.all(tables.map((name) => import(`./schema/${name}.ts`)));
  return modules.flatMap((module) => Object.values(module)).filter((value) => is(value, PgTable));
}

interface ColumnFacts {
  readonly type: string;
  readonly notNull: boolean;
  readonly hasDefault: boolean;
}

interface TableFacts {
  readonly columns: Record<string, ColumnFacts>;
  readonly primaryKey: string[];
  /** Other indexes and unique constraints by name, with their columns; unique ones begin with an exclamation mark. */
  readonly indexes: Record<string, string>;
}

function described(table: PgTable): [string, TableFacts] {
  const config = getTableConfig(table);
  const columns = config.columns.map((column) => [
    column.name,
    {
      type: column.getSQLType(),
      notNull: column.notNull,
      // PostgreSQL keeps the expression of a generated column where defaults are.
      hasDefault:
        column.hasDefault || column.generatedIdentity !== undefined || column.generated !== undefined,
    },
  ]);
  const single = config.columns.filter((column) => column.primary);
  const keyColumns = config.primaryKeys[0]?.columns ?? single;
  const uniques = config.uniqueConstraints.map((one) => [
    one.getName(),
    `!${one.columns.map((column) => column.name).join()}`,
  ]);
  const indexes = config.indexes.map(({ config: one }) => {
    const names = one.columns.map((column) => ("name" in column ? String(column.name) : "(expression)"));
    return [one.name ?? "", `${one.unique ? "!" : ""}${names.join()}${one.where ? " where" : ""}`];
  });
  return [
    config.name,
    {
      columns: Object.fromEntries(columns),
      primaryKey: keyColumns.map((column) => column.name),
      indexes: Object.fromEntries([...uniques, ...indexes]),
    },
  ];
}

const columnsText = `
select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
  a.attnotnull as not_null, a.atthasdef or a.attidentity <> '' as has_default
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and a.attnum > 0 and not a.attisdropped
order by c.relname, a.attnum`;

const indexesText = `
select c.relname as "table", i.relname as name, x.indisprimary as is_primary, x.indisunique as is_unique,
  x.indpred is not null as is_partial,
  array(select a.attname::text from unnest(x.indkey::int[]) with ordinality k(attnum, position)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum order by k.position) as columns
from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
where c.relnamespace = 'public'::regnamespace and not c.relispartition`;

async function migrated(): Promise<Record<string, TableFacts>> {
  const tables: Record<string, TableFacts & { primaryKey: string[] }> = {};
  for (const row of await database.sql.unsafe(columnsText)) {
    const name = String(row.table);
    tables[name] ??= { columns: {}, primaryKey: [], indexes: {} };
    tables[name].columns[String(row.name)] = {
      type: String(row.type),
      notNull: row.not_null === true,
      hasDefault: row.has_default === true,
    };
  }
  for (const row of await database.sql.unsafe(indexesText)) {
    const table = tables[String(row.table)];
    const columns = row.columns as string[];
    if (row.is_primary === true) table?.primaryKey.push(...columns);
    else if (table !== undefined) {
      const mark = row.is_unique === true ? "!" : "";
      table.indexes[String(row.name)] = `${mark}${columns.join()}${row.is_partial === true ? " where" : ""}`;
    }
  }
  return tables;
}

test("Drizzle's description and the migrated database agree in every table, column, key and index", async () => {
  const tables = await describedTables();
  expect(tables.length).toBeGreaterThan(15);
  expect(await migrated()).toEqual(Object.fromEntries(tables.map(described)));
});

test("what the description cannot say: fillfactors, partitions, storage", async () => {
  const options = await database.sql.unsafe(
    "select relname, reloptions[1] as option from pg_class where reloptions is not null and relkind = 'r' order by 1",
  );
  expect(options.filter((row) => !String(row.relname).startsWith("pg_"))).toEqual([
    { relname: "action_counts", option: "fillfactor=50" },
    { relname: "invocation_details", option: "fillfactor=70" },
    { relname: "invocations", option: "fillfactor=70" },
    { relname: "lifecycle_events", option: "fillfactor=50" },
    { relname: "signal_deliveries", option: "fillfactor=70" },
    { relname: "signal_partitions", option: "fillfactor=70" },
    { relname: "stream_positions", option: "fillfactor=50" },
    { relname: "targets", option: "fillfactor=50" },
  ]);
  const stored = await database.sql.unsafe(
    `select count(*) as tables, bool_and(a.attstorage = 'e') as external
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relname ~ '^(event|log)_segments' and a.attname = 'data'`,
  );
  // Two tables with partitions for yesterday, today and 14 days ahead.
  expect(stored).toEqual([{ tables: 2 + 2 * 16, external: true }]);
});
