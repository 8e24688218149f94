import { type Clock, every } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Stoppable } from "@millrace/base/lifecycle";
import type { Log } from "@millrace/base/log";
import type { WriterFailPoints } from "./failpoints.ts";
import type { Job, JobLease } from "./jobs.ts";

/** A fact that is to be published. */
export interface UnpublishedFact {
  readonly id: number;
  readonly subject: string;
  /** The CloudEvents envelope as JSON; `messageId` is its id. */
  readonly json: string;
  readonly messageId: string;
}

/** Which facts a stream has taken, and the identity of that stream. */
export interface Taken {
  readonly ids: readonly number[];
  readonly stream: string;
}

/** The relay's port to the database. */
export interface OutboxStore {
  /**
   * Hands up to `limit` unpublished facts, oldest first, to `publish` and notes what was taken; how many there were.
   * Others do not see these facts meanwhile; they stay unpublished when `publish` fails or this process dies.
   */
  relay(limit: number, publish: (facts: readonly UnpublishedFact[]) => Promise<Taken>): Promise<number>;
  /** Publishes again what another stream than `stream` took; how many facts that were. */
  requeueOthers(stream: string, lease: JobLease): Promise<number>;
  /** Forgets what was published more than 10 min ago. */
  prune(lease: JobLease): Promise<void>;
}

/** JetStream as the relay sees it. */
export interface FactStream {
  /** Creates the stream if it is missing; its identity, which is another one after it was lost and made anew. */
  identity(): Promise<string>;
  /** Resolves when the stream has the fact. A repeated `messageId` is stored once within 2 min. */
  publish(fact: { subject: string; json: string; messageId: string }): Promise<void>;
}

/** What the relay works with. */
export interface FactPorts {
  readonly outbox: OutboxStore;
  readonly stream: FactStream;
  readonly points: WriterFailPoints;
}

/** In one transaction, which holds their locks until JetStream has answered. */
const factsAtOnceMax = 200;
const pollMs = 500;

/**
 * Takes facts from the outbox to JetStream, at least once each. Every writer runs one: rows are locked, never read
 * by a cursor, since numbers become visible out of order.
 */
export function startOutboxRelay(ports: FactPorts, world: { clock: Clock; log: Log }): Stoppable {
  let isStopping = false;
  let running: Promise<void> = Promise.resolve();
  const relayAll = async (): Promise<void> => {
    try {
      while (!isStopping && (await relayOnce(ports)) === factsAtOnceMax);
    } catch (error) {
      world.log.warn("facts stay in the outbox", { error: errorText(error) });
    }
  };
  const stop = every(world.clock, pollMs, () => {
    running = relayAll();
    return running;
  });
  return {
    name: "outbox relay",
    stop: async () => {
      isStopping = true;
      stop();
      await running;
    },
  };
}

/** Publishes one handful; how many facts it were. Fails when the stream or the database is away. */
export async function relayOnce(ports: FactPorts): Promise<number> {
  let failure: unknown;
  const count = await ports.outbox.relay(factsAtOnceMax, async (facts) => {
    // Asked before publishing: if it is made anew meanwhile, its older identity has the facts sent again.
    const stream = await ports.stream.identity();
    const results = await Promise.allSettled(facts.map((fact) => ports.stream.publish(fact)));
    failure = results.find((result) => result.status === "rejected")?.reason;
    const ids = facts.filter((_, index) => results[index]?.status === "fulfilled").map((fact) => fact.id);
    if (facts.length > 0) await ports.points.reach("facts-taken");
    return { ids, stream };
  });
  if (failure !== undefined) throw failure;
  return count;
}

const prunePeriodMs = 30_000;

/**
 * JetStream acknowledges before its disk has the fact. So a row stays 10 min, and when the stream turns out to be
 * another one, what the lost one took is published again.
 */
export function outboxJob(ports: Pick<FactPorts, "outbox" | "stream">, log: Log): Job {
  return {
    name: "outbox",
    periodMs: prunePeriodMs,
    run: async (lease) => {
      const requeued = await ports.outbox.requeueOthers(await ports.stream.identity(), lease);
      if (requeued > 0) log.warn("the event stream was lost; facts are published again", { requeued });
      await ports.outbox.prune(lease);
    },
  };
}
