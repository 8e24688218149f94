import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "@nats-io/transport-node";
import type { Cluster } from "../../e2e/cluster.ts";
import type { SecretSearch } from "../search/secret-search.ts";

/** Searches every message on NATS from now on. */
export async function searchTraffic(
  cluster: Cluster,
  search: SecretSearch,
): Promise<{ count: () => number; stop(): Promise<void> }> {
  const connection = await connect({ servers: cluster.addresses.natsUrl });
  let count = 0;
  connection.subscribe(">", {
    callback: (_, message) => {
      count += 1;
      search.look("NATS", message.subject);
      search.look("NATS", message.data);
      for (const [name, values] of message.headers ?? []) search.look("NATS", `${name} ${values.join(" ")}`);
    },
  });
  await connection.flush();
  return { count: () => count, stop: () => connection.drain() };
}

/** Searches every value of every table, or those of certain attempts only. */
export async function searchDatabase(
  { database }: Cluster,
  search: SecretSearch,
): Promise<{ tables: number }> {
  const tables = await database.sql.unsafe(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  for (const { name } of tables) {
    await database.sql.unsafe(`select * from ${name}`).cursor(500, (rows) => {
      for (const row of rows) {
        for (const [column, value] of Object.entries(row))
          searchValue(search, { place: `${name}.${column}`, value });
      }
    });
  }
  return { tables: tables.length };
}

function searchValue(search: SecretSearch, { place, value }: { place: string; value: unknown }): void {
  if (value === null || typeof value === "number" || typeof value === "boolean" || value instanceof Date)
    return;
  const where = `database ${place}`;
  if (value instanceof Uint8Array || typeof value === "string") search.look(where, value);
  else search.look(where, JSON.stringify(value));
}

/** Searches the names and contents of all blobs. */
export async function searchBlobs({ addresses }: Cluster, search: SecretSearch): Promise<{ files: number }> {
  const entries = await readdir(addresses.blobDirectory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) {
    search.look("blobs", path.join(parentPath, name));
    search.look("blobs", await readFile(path.join(parentPath, name)));
  }
  return { files: files.length };
}

const reads = ["", "/targets", "/tests", "/actions", "/details", "/metrics", "/events?limit=500", "/log"];

/** Searches what the API answers about a build. */
export async function searchAnswers(
  cluster: Cluster,
  search: SecretSearch,
  invocationId: string,
): Promise<void> {
  for (const read of reads) {
    const answer = await cluster.get(`/api/v1/projects/default/invocations/${invocationId}${read}`);
    if (!answer.ok) throw new Error(`GET ${read}: ${answer.status} ${await answer.text()}`);
    search.look(`API ${read}`, new Uint8Array(await answer.arrayBuffer()));
  }
}
