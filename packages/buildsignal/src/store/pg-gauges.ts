import type { Database } from "@millrace/db/connect";
import { signalDeadLetters } from "@millrace/db/schema/signal-dead-letters";
import { signalDeliveries } from "@millrace/db/schema/signal-deliveries";
import { signalGates } from "@millrace/db/schema/signal-gates";
import { signalQueues } from "@millrace/db/schema/signal-queues";
import { count, eq, isNull, sql } from "drizzle-orm";

/** What the controllers' tables hold now. */
export interface SignalGauges {
  readonly slots: readonly { readonly queue: string; readonly taken: number }[];
  readonly letters: readonly { readonly topic: string; readonly open: number }[];
  readonly gates: readonly { readonly topic: string; readonly closed: number }[];
  readonly deliveries: readonly {
    readonly topic: string;
    readonly unfinished: number;
    readonly held: number;
    /** Seconds that the longest held one has been held. */
    readonly heldSecondsMax: number;
  }[];
}

/** Read when metrics are asked for, never on a schedule. */
export async function readGauges(database: Database): Promise<SignalGauges> {
  const { orm } = database;
  const [slots, letters, gates, deliveries] = await Promise.all([
    orm
      .select({ queue: signalQueues.name, taken: sql<number>`jsonb_array_length(${signalQueues.slots})` })
      .from(signalQueues),
    orm
      .select({ topic: signalDeadLetters.topic, open: count() })
      .from(signalDeadLetters)
      .where(eq(signalDeadLetters.state, "open"))
      .groupBy(signalDeadLetters.topic),
    orm.select({ topic: signalGates.topic, closed: count() }).from(signalGates).groupBy(signalGates.topic),
    orm
      .select({
        topic: signalDeliveries.topic,
        unfinished: count(),
        held: sql<number>`count(${signalDeliveries.heldSince})`,
        heldSecondsMax: sql<number>`coalesce(extract(epoch from now() - min(${signalDeliveries.heldSince})), 0)::float8`,
      })
      .from(signalDeliveries)
      .where(isNull(signalDeliveries.doneAt))
      .groupBy(signalDeliveries.topic),
  ]);
  return { slots, letters, gates, deliveries };
}
