import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import type { Database } from "@millrace/db/connect";
import type { Lane, LaneTransaction } from "@millrace/db/lane";
import { outbox } from "@millrace/db/schema/outbox";
import { signalBuilds } from "@millrace/db/schema/signal-builds";
import { signalRequestLog } from "@millrace/db/schema/signal-request-log";
import { signalRequests } from "@millrace/db/schema/signal-requests";
import { eq, inArray } from "drizzle-orm";
import { outboxFact } from "../signal-fact.ts";
import type { PolledBuild, SignalReads, SignalStore, SignalWrites } from "../store.ts";
import { groupsOf } from "../topics.ts";
import { asFailure } from "./failure.ts";
import { LanePool } from "./lane-pool.ts";
import { LoadBatcher } from "./load-batcher.ts";
import { pgEntityWrites, pgReads } from "./pg-entities.ts";
import { serverNow } from "./pg-queue.ts";
import { publishMessage } from "./publish.ts";
import { queueTexts } from "./queue-texts.ts";
import { buildOf, requestOf } from "./rows.ts";

export interface SignalStoreSettings {
  /** For reads. */
  readonly database: Database;
  /** For transactions, as many at once. */
  readonly lanes: readonly Lane[];
  readonly clock: Clock;
  readonly random: Random;
  /** Called after a transaction that published has committed. */
  onPublished(): void;
}

/** The controllers' store on PostgreSQL. */
export function pgSignalStore(settings: SignalStoreSettings): SignalStore {
  const pool = new LanePool(settings.lanes);
  const polled = new LoadBatcher((ids) => readPolled(settings.database, ids));
  const reads = pgReads(settings.database.orm);
  return {
    ...guarded(reads),
    polledBuild: (id) => asFailure(() => polled.load(id)),
    transact: async (work) => {
      let hasPublished = false;
      const result = await asFailure(() =>
        pool.transact((tx) => {
          hasPublished = false;
          return work(writesOf(tx, { ...settings, onPublish: () => (hasPublished = true) }));
        }),
      );
      if (hasPublished) settings.onPublished();
      return result;
    },
  };
}

function guarded(reads: SignalReads): SignalReads {
  return {
    queue: (name) => asFailure(() => reads.queue(name)),
    request: (id) => asFailure(() => reads.request(id)),
    build: (id) => asFailure(() => reads.build(id)),
    requestUri: (queue, uri) => asFailure(() => reads.requestUri(queue, uri)),
    fact: (queue, uri, part) => asFailure(() => reads.fact(queue, uri, part)),
  };
}

const texts = queueTexts(serverNow);

function writesOf(
  tx: LaneTransaction,
  world: { clock: Clock; random: Random; onPublish: () => void },
): SignalWrites {
  return {
    ...pgReads(tx.orm),
    ...pgEntityWrites(tx.orm),
    publish: async (message) => {
      const published = await publishMessage(tx, message, { texts, groups: groupsOf(message.topic) });
      world.onPublish();
      return published;
    },
    appendLog: async ({ atMs, from, to, ...rest }) => {
      await tx.orm
        .insert(signalRequestLog)
        .values({ ...rest, at: new Date(atMs), fromState: from, toState: to });
    },
    announce: async (fact) => {
      await tx.orm.insert(outbox).values(outboxFact(fact, world));
    },
  };
}

async function readPolled(database: Database, ids: readonly string[]): Promise<Map<string, PolledBuild>> {
  const rows = await database.orm
    .select({ build: signalBuilds, request: signalRequests })
    .from(signalBuilds)
    .leftJoin(signalRequests, eq(signalRequests.id, signalBuilds.requestId))
    .where(inArray(signalBuilds.id, [...ids]));
  return new Map(
    rows.map(({ build, request }) => [
      build.id,
      { build: buildOf(build), request: request === null ? undefined : requestOf(request) },
    ]),
  );
}
