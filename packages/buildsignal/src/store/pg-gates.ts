import type { Lane } from "@millrace/db/lane";
import { signalGates } from "@millrace/db/schema/signal-gates";
import { and, eq, sql } from "drizzle-orm";
import type { GateStore } from "../gate-store.ts";
import { asFailure } from "./failure.ts";

/** Gates on PostgreSQL. `onOpened` is called when what stood behind one may be due. */
export function pgGates(lane: Lane, onOpened: () => void): GateStore {
  return {
    close: async ({ stage, key }, reason) => {
      const row = { topic: stage, partitionKey: key, reason, closedAt: sql`now()` };
      await asFailure(() =>
        lane.transact(async (tx) => {
          await tx.orm
            .insert(signalGates)
            .values(row)
            .onConflictDoUpdate({
              target: [signalGates.topic, signalGates.partitionKey],
              set: { reason },
            });
        }),
      );
    },
    open: async ({ stage, key }) => {
      const isIt = and(eq(signalGates.topic, stage), eq(signalGates.partitionKey, key));
      const opened = await asFailure(() =>
        lane.transact((tx) => tx.orm.delete(signalGates).where(isIt).returning({ topic: signalGates.topic })),
      );
      if (opened.length > 0) onOpened();
      return opened.length > 0;
    },
  };
}
