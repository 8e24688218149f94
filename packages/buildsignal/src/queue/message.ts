/** A message to publish. Its id expresses intent: the entity's id alone, or with the cause appended. */
export interface NewMessage {
  readonly topic: string;
  readonly id: string;
  /** Messages of one key are handled one after the other, in the order of their publication. */
  readonly key: string;
  /** Plain JSON. */
  readonly payload: object;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Swallowed also by a finished message of the same id, for as long as those are kept (7 days). */
  readonly once?: boolean;
}

/**
 * `duplicate`: some group has a message of this topic, key and id unfinished; the new one joins it. Whoever publishes
 * stores first, so that the handler of the older message finds what the newer one is about.
 */
export type Published = "published" | "duplicate";

/** A message in the hands of a handler. */
export interface Delivery {
  readonly id: number;
  readonly topic: string;
  readonly group: string;
  readonly key: string;
  readonly messageId: string;
  readonly payload: unknown;
  readonly metadata: Readonly<Record<string, string>>;
  readonly once: boolean;
  /** 1 for the first; holds do not count. */
  readonly attempt: number;
  /** The right to finish this delivery, once; void as soon as the visibility lapsed and somebody else has it. */
  readonly receipt: string;
  /** Holds in a row since the last fresh one. */
  readonly holds: number;
  /** Milliseconds since the first hold in a row; 0 when it is not held. */
  readonly heldForMs: number;
  /** Milliseconds between its being due and its hand-over. */
  readonly lateMs: number;
}

/** How a delivery ends. */
export type Finish =
  | { readonly kind: "done" }
  /** Comes again after `delayMs`, as a barrier, without counting an attempt. `fresh` restarts the count of holds. */
  | { readonly kind: "hold"; readonly delayMs: number; readonly fresh: boolean }
  /** Comes again after `delayMs` as the next attempt. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly isBarrier: boolean }
  /** Given up: set aside with its reason. */
  | { readonly kind: "dead"; readonly reason: string }
  /** Comes again at once, nothing is counted: the process stops. */
  | { readonly kind: "return" };

export interface Finished {
  readonly delivery: Delivery;
  readonly finish: Finish;
}

/** How much of a topic a process can take now. */
export interface ClaimAsk {
  readonly topic: string;
  readonly group: string;
  readonly room: number;
  readonly visibilityMs: number;
  /** A delivery that lapsed so often is given up. */
  readonly attemptsMax: number;
}

export interface Claimed {
  readonly deliveries: readonly Delivery[];
  /** Deliveries that lapsed too often and are dead letters now. */
  readonly exhausted: readonly Delivery[];
  /** Milliseconds until something of the asked topics is due (0: now); undefined when there is nothing. */
  readonly nextDueInMs: number | undefined;
}

/**
 * The queue as a consumer sees it. Per (topic, group, key) at most one delivery is in somebody's hands. Failures of
 * the database are `MillraceError`s of remedy `retry`.
 */
export interface QueueStore {
  /** Hands out what is due. What is not finished within its visibility comes again as the next attempt. */
  claim(asks: readonly ClaimAsk[]): Promise<Claimed>;
  /**
   * Ends deliveries, all or none; for each whether its receipt was still good. A stale one changes nothing. Also
   * says when the next of their partitions is due.
   */
  finish(
    finished: readonly Finished[],
  ): Promise<{ wereStored: readonly boolean[]; nextDueInMs: number | undefined }>;
  /** Renews the visibility of deliveries that are still being handled. */
  extend(deliveries: readonly Delivery[], visibilityMs: number): Promise<void>;
}

/** Suffix of the topic that gets the dead letters of a topic. */
const deadSuffix = "_dlq";

export function deadTopicOf(topic: string): string {
  return topic + deadSuffix;
}

/** The topic whose dead letters this one carries; undefined for a topic of work. */
export function originOf(topic: string): string | undefined {
  return topic.endsWith(deadSuffix) ? topic.slice(0, -deadSuffix.length) : undefined;
}

/** The group that reconciles the dead letters of a group. */
export function deadGroupOf(group: string): string {
  return `${group}-dlq`;
}

export function originGroupOf(deadGroup: string): string {
  return deadGroup.replace(/-dlq$/, "");
}
