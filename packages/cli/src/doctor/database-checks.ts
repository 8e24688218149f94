import { errorText } from "@millrace/base/errors";
import { connect } from "@millrace/db/connect";
import { readSchemaFacts, readServerFacts, type SchemaFacts, type ServerFacts } from "@millrace/db/diagnose";
import { type Check, fail, ok, warn } from "./check.ts";

/** `lz4`-less builds, `MERGE`, `security_invoker`: what we use is there from 15 on. */
const oldestPostgres = 150_000;

/** Fewer days with partitions than this: the writers' housekeeping has not run for a week and a half. */
const partitionDaysMin = 3;

/** The database as a whole: reachable, durable, migrated. */
export async function checkDatabase(url: string): Promise<Check[]> {
  const database = connect({ url, max: 1, name: "millrace-doctor" });
  try {
    const server = await readServerFacts(database.sql);
    return [...serverChecks(server), ...schemaChecks(await readSchemaFacts(database.sql))];
  } catch (error) {
    const todo = "Is it running, and are user and password right? See --database-url.";
    return [fail("PostgreSQL", `cannot be asked: ${errorText(error)}`, todo)];
  } finally {
    await database.close();
  }
}

/** Exported so that servers nobody has at hand can be judged in a test. */
export function serverChecks(server: ServerFacts): Check[] {
  const version = `version ${server.version}`;
  return [
    server.versionNumber >= oldestPostgres
      ? ok("PostgreSQL", version)
      : fail("PostgreSQL", version, "Version 15 or newer is needed."),
    ...(server.isReadOnly
      ? [
          fail(
            "PostgreSQL",
            "takes no writes: it is a standby or read-only",
            "Name the primary in --database-url.",
          ),
        ]
      : []),
    durabilityCheck(server),
    replicationCheck(server),
    connectionCheck(server),
  ];
}

/** What the promise rests on that an acknowledged event is never lost. */
function durabilityCheck({ settings }: ServerFacts): Check {
  const settingsShown = ["fsync", "full_page_writes", "synchronous_commit"];
  const off = settingsShown.filter((name) => settings[name] === "off");
  if (off.length > 0) {
    const found = `${off.join(" and ")} ${off.length === 1 ? "is" : "are"} off: a crash can lose acknowledged events`;
    return fail(
      "durability",
      found,
      `Set ${off.map((name) => `${name} = on`).join(", ")} in postgresql.conf.`,
    );
  }
  return ok("durability", settingsShown.map((name) => `${name} ${settings[name]}`).join(", "));
}

function replicationCheck(server: ServerFacts): Check {
  const { replicas, synchronousReplicas } = server;
  if (replicas === 0)
    return ok("replication", "none: an acknowledged event is on one disk, that of the server");
  if (synchronousReplicas > 0) {
    return ok("replication", `${replicas} replicas, a commit waits for ${synchronousReplicas} of them`);
  }
  const found = `${replicas} replicas, and no commit waits for one: a failover can lose acknowledged events`;
  return warn("replication", found, "Set synchronous_standby_names if the replicas are there for failover.");
}

function connectionCheck({ settings, connections }: ServerFacts): Check {
  const max = Number(settings.max_connections);
  const found = `${connections} of ${max} connections in use`;
  if (connections < max * 0.8) return ok("connections", found);
  return warn("connections", found, "Raise max_connections, or run fewer writers and API processes.");
}

export function schemaChecks(schema: SchemaFacts): Check[] {
  return [migrationCheck(schema), ...(schema.missing.length > 0 ? [] : [partitionCheck(schema)])];
}

function migrationCheck({ missing, unknown }: SchemaFacts): Check {
  if (missing.length > 0) return fail("schema", `lacks ${missing.join(", ")}`, "Run millrace migrate.");
  if (unknown.length > 0) {
    const found = `is newer than this Millrace: ${unknown.join(", ")}`;
    return warn("schema", found, "Fine while versions are being exchanged; else run the newer Millrace.");
  }
  return ok("schema", "up to date");
}

function partitionCheck({ partitionDaysAhead }: SchemaFacts): Check {
  const found = `partitions for ${partitionDaysAhead} days from today on`;
  if (partitionDaysAhead >= partitionDaysMin) return ok("partitions", found);
  const todo =
    "Writers make them every hour: is one running, and what does its log say? millrace migrate makes them too.";
  return partitionDaysAhead > 0 ? warn("partitions", found, todo) : fail("partitions", found, todo);
}
