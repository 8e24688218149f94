import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmbeddedPostgres } from "@millrace/cli/services/embedded-postgres";

/** A PostgreSQL with all its durability: the oracle refuses the one that other tests share, which has fsync off. */
export async function startDurablePostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "millrace-oracle-"));
  const server = await startEmbeddedPostgres({ dataDir, port: 0, onLine: () => {}, ephemeral: true });
  return {
    url: server.url,
    stop: async () => {
      await server.stop("immediate");
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
