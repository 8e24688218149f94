import type { Executor } from "./connect.ts";
import { listMigrations } from "./migrate.ts";
import { countDaysAhead } from "./partitions.ts";

/** What a database server says of itself. */
export interface ServerFacts {
  /** Such as `18.4`. */
  readonly version: string;
  /** 180004. */
  readonly versionNumber: number;
  /** By name, as the server shows them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Servers that follow this one, and how many of them a commit waits for. */
  readonly replicas: number;
  readonly synchronousReplicas: number;
  readonly isReadOnly: boolean;
  readonly connections: number;
}

export const settingNames = [
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  "synchronous_standby_names",
  "max_connections",
] as const;

export async function readServerFacts(executor: Executor): Promise<ServerFacts> {
  const settings = await executor.unsafe(
    "select name, setting from pg_settings where name = any ($1::text[])",
    [[...settingNames]],
  );
  const [row] = await executor.unsafe(
    `select current_setting('server_version') as version,
       current_setting('server_version_num')::int as version_number,
       (select count(*) from pg_stat_replication) as replicas,
       (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')) as synchronous_replicas,
       pg_is_in_recovery() or current_setting('transaction_read_only')::bool as is_read_only,
       (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections`,
  );
  return {
    version: row?.version ?? "",
    versionNumber: row?.version_number ?? 0,
    settings: Object.fromEntries(settings.map(({ name, setting }) => [name, setting])),
    replicas: row?.replicas ?? 0,
    synchronousReplicas: row?.synchronous_replicas ?? 0,
    isReadOnly: row?.is_read_only ?? false,
    connections: row?.connections ?? 0,
  };
}

/** How the schema stands to the one this Millrace needs. */
export interface SchemaFacts {
  /** Not applied yet. */
  readonly missing: readonly string[];
  /** Applied by a newer Millrace. */
  readonly unknown: readonly string[];
  /** Days from today on for which there are partitions; 0 in a database without our tables. */
  readonly partitionDaysAhead: number;
}

export async function readSchemaFacts(executor: Executor): Promise<SchemaFacts> {
  const ours = await listMigrations();
  const [known] = await executor.unsafe("select to_regclass('schema_migrations') is not null as is_there");
  if (known?.is_there !== true) return { missing: ours, unknown: [], partitionDaysAhead: 0 };
  const applied = (await executor.unsafe("select name from schema_migrations")).map(({ name }) =>
    String(name),
  );
  return {
    missing: ours.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !ours.includes(name)),
    partitionDaysAhead: await countDaysAhead(executor),
  };
}
