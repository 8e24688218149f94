import { MillraceError } from "@millrace/base/errors";
import { findValidKey } from "@millrace/db/api-keys";
import type { Database } from "@millrace/db/connect";
import { nodes } from "@millrace/db/schema/nodes";
import { settings } from "@millrace/db/schema/settings";
import { eq, sql } from "drizzle-orm";
import type { KeyStore } from "../keys.ts";
import type { NodeStore } from "../leases.ts";

export function pgKeyStore({ orm }: Database): KeyStore {
  return {
    find: async (sha256) => {
      const row = await findValidKey(orm, sha256);
      return row === undefined ? undefined : { ...row, project: row.projectId };
    },
    serverSecret: async () => {
      const [row] = await orm
        .select({ value: settings.value })
        .from(settings)
        .where(eq(settings.name, "server_secret"));
      if (typeof row?.value === "string") return Buffer.from(row.value, "hex");
      const message = "the database has no server secret: run the migrations";
      throw new MillraceError({ remedy: "retry", code: "not-migrated", message });
    },
  };
}

export function pgNodeStore({ orm }: Database): NodeStore {
  return {
    renew: async (node, seconds) => {
      const leaseUntil = sql`now() + make_interval(secs => ${seconds})`;
      await orm
        .insert(nodes)
        .values({ id: node, leaseUntil })
        .onConflictDoUpdate({ target: nodes.id, set: { leaseUntil } });
    },
  };
}
