/**
 * Where one connection of a build event stream stands. `committed` belongs to the attempt and only grows; `seen`
 * and `acked` belong to the connection: after a break Bazel opens a new one and sends again from its first
 * unacknowledged event, so a connection starts with acked = seen = its first sequence number − 1.
 */
export interface StreamPosition {
  readonly committed: number;
  readonly seen: number;
  readonly acked: number;
}

/** The position of a connection before its first event. Nothing is known to be committed yet. */
export function startOfConnection(firstSequence: number): StreamPosition {
  return { committed: 0, seen: firstSequence - 1, acked: firstSequence - 1 };
}

export type Arrival =
  /** In order, not yet committed: to be stored. */
  | { readonly kind: "new" }
  /** In order and already committed: to be acked, nothing else. */
  | { readonly kind: "stored" }
  /** This connection sent it before. */
  | { readonly kind: "repeat" }
  /** Above the next number: Bazel never does this. */
  | { readonly kind: "gap"; readonly expected: number };

const isNew: Arrival = { kind: "new" };
const isStored: Arrival = { kind: "stored" };
const isRepeat: Arrival = { kind: "repeat" };

/** What the event numbered `sequence` is to this connection. */
export function classifyArrival(at: StreamPosition, sequence: number): Arrival {
  if (sequence > at.seen + 1) return { kind: "gap", expected: at.seen + 1 };
  if (sequence <= at.seen) return isRepeat;
  return sequence <= at.committed ? isStored : isNew;
}

/** The connection has sent `sequence`, the next one. */
export function markSeen(at: StreamPosition, sequence: number): StreamPosition {
  return { ...at, seen: sequence };
}

/** The attempt is durable up to `committed`; a late answer never moves it back. */
export function markCommitted(at: StreamPosition, committed: number): StreamPosition {
  return committed > at.committed ? { ...at, committed } : at;
}

/** The acks to send now, in order. Bazel rejects an ack for an event it has not sent on this connection. */
export function takeAcks(at: StreamPosition): { position: StreamPosition; from: number; to: number } {
  const to = Math.max(at.acked, Math.min(at.committed, at.seen));
  return { position: to === at.acked ? at : { ...at, acked: to }, from: at.acked + 1, to };
}
