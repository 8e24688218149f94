import type { Database } from "@millrace/db/connect";
import { signalBuilds } from "@millrace/db/schema/signal-builds";
import { signalFacts } from "@millrace/db/schema/signal-facts";
import { signalQueues } from "@millrace/db/schema/signal-queues";
import { signalRequestUris } from "@millrace/db/schema/signal-request-uris";
import { signalRequests } from "@millrace/db/schema/signal-requests";
import { and, eq } from "drizzle-orm";
import type { SignalReads, SignalWrites } from "../store.ts";
import { buildOf, buildRow, factOf, factRow, queueOf, queueRow, requestOf, requestRow } from "./rows.ts";

type Orm = Database["orm"];

/** Point reads on a pool or inside a transaction. */
export function pgReads(orm: Orm): SignalReads {
  return {
    queue: async (name) => {
      const [row] = await orm.select().from(signalQueues).where(eq(signalQueues.name, name));
      return row && queueOf(row);
    },
    request: async (id) => {
      const [row] = await orm.select().from(signalRequests).where(eq(signalRequests.id, id));
      return row && requestOf(row);
    },
    build: async (id) => {
      const [row] = await orm.select().from(signalBuilds).where(eq(signalBuilds.id, id));
      return row && buildOf(row);
    },
    requestUri: async (queue, uri) => {
      const isIt = and(eq(signalRequestUris.queue, queue), eq(signalRequestUris.uri, uri));
      const [row] = await orm.select().from(signalRequestUris).where(isIt);
      return row;
    },
    fact: async (queue, uri, part) => {
      const isIt = and(eq(signalFacts.queue, queue), eq(signalFacts.uri, uri), eq(signalFacts.part, part));
      const [row] = await orm.select().from(signalFacts).where(isIt);
      return row && factOf(row);
    },
  };
}

/** Creates and compare-and-sets, inside a transaction. */
export function pgEntityWrites(orm: Orm): EntityWrites {
  return { ...creates(orm), ...updates(orm) };
}

type EntityWrites = Omit<SignalWrites, "publish" | "appendLog" | "announce" | keyof SignalReads>;
type Creates = Pick<EntityWrites, Extract<keyof EntityWrites, `create${string}`>>;

function creates(orm: Orm): Creates {
  return {
    createQueue: async (queue) =>
      hit(
        await orm
          .insert(signalQueues)
          .values(queueRow(queue))
          .onConflictDoNothing()
          .returning({ hit: signalQueues.name }),
      ),
    createRequest: async (request) =>
      hit(
        await orm
          .insert(signalRequests)
          .values(requestRow(request))
          .onConflictDoNothing()
          .returning({ hit: signalRequests.id }),
      ),
    createBuild: async (build) =>
      hit(
        await orm
          .insert(signalBuilds)
          .values(buildRow(build))
          .onConflictDoNothing()
          .returning({ hit: signalBuilds.id }),
      ),
    createRequestUri: async (row) =>
      hit(
        await orm
          .insert(signalRequestUris)
          .values(row)
          .onConflictDoNothing()
          .returning({ hit: signalRequestUris.uri }),
      ),
    createFact: async (fact) =>
      hit(
        await orm
          .insert(signalFacts)
          .values(factRow(fact))
          .onConflictDoNothing()
          .returning({ hit: signalFacts.uri }),
      ),
  };
}

function updates(orm: Orm): Omit<EntityWrites, keyof Creates> {
  return {
    updateQueue: async (queue) =>
      hit(
        await orm
          .update(signalQueues)
          .set(queueRow(queue))
          .where(and(eq(signalQueues.name, queue.name), eq(signalQueues.version, queue.version - 1)))
          .returning({ hit: signalQueues.name }),
      ),
    updateRequest: async (request) =>
      hit(
        await orm
          .update(signalRequests)
          .set(requestRow(request))
          .where(and(eq(signalRequests.id, request.id), eq(signalRequests.version, request.version - 1)))
          .returning({ hit: signalRequests.id }),
      ),
    updateBuild: async (build) =>
      hit(
        await orm
          .update(signalBuilds)
          .set(buildRow(build))
          .where(and(eq(signalBuilds.id, build.id), eq(signalBuilds.version, build.version - 1)))
          .returning({ hit: signalBuilds.id }),
      ),
    updateRequestUri: async (row) =>
      hit(
        await orm
          .update(signalRequestUris)
          .set(row)
          .where(
            and(
              eq(signalRequestUris.queue, row.queue),
              eq(signalRequestUris.uri, row.uri),
              eq(signalRequestUris.version, row.version - 1),
            ),
          )
          .returning({ hit: signalRequestUris.uri }),
      ),
  };
}

function hit(rows: readonly unknown[]): boolean {
  return rows.length > 0;
}
