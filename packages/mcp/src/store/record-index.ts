import type { Invocation, State } from "./record.ts";

/** What is kept in memory of every invocation. Everything else is read from its manifest when asked for. */
export interface Entry {
  readonly id: string;
  readonly requestedAtMs: number;
  /** 0 while it is not final. */
  readonly finishedAtMs: number;
  readonly payloadBytes: number;
  readonly state: State;
  readonly command: string;
  readonly workspace: string;
  readonly owner: string;
  /** 0 without a deferred result. */
  readonly protectedUntilMs: number;
  /** Raw output is still there. */
  readonly hasEvidence: boolean;
}

export function entryOf(invocation: Invocation): Entry {
  return {
    id: invocation.request.id,
    requestedAtMs: invocation.request.requested_at_ms,
    finishedAtMs: invocation.finished_at_ms ?? 0,
    payloadBytes: invocation.payload_bytes,
    state: invocation.state,
    command: invocation.request.command,
    workspace: invocation.request.workspace,
    owner: invocation.owner,
    protectedUntilMs: invocation.deferred?.expires_at_ms ?? 0,
    hasEvidence: invocation.evidence_expired !== true,
  };
}

/** All invocations by id, and in the order of their ids, which is that of time. */
export class RecordIndex {
  private readonly entries = new Map<string, Entry>();
  private ordered: string[] = [];
  private isOrdered = true;

  get size(): number {
    return this.entries.size;
  }

  get(id: string): Entry | undefined {
    return this.entries.get(id);
  }

  set(entry: Entry): void {
    if (!this.entries.has(entry.id)) {
      const last = this.ordered.at(-1);
      if (last !== undefined && last > entry.id) this.isOrdered = false;
      this.ordered.push(entry.id);
    }
    this.entries.set(entry.id, entry);
  }

  delete(id: string): void {
    // The place in the order is left to `compact`: removing from an array one by one is quadratic.
    this.entries.delete(id);
    if (this.ordered.length > 64 && this.entries.size * 2 < this.ordered.length) this.compact();
  }

  all(): IterableIterator<Entry> {
    return this.entries.values();
  }

  /** Oldest first. */
  *oldest(): Generator<Entry> {
    for (const id of this.inOrder()) {
      const entry = this.entries.get(id);
      if (entry !== undefined) yield entry;
    }
  }

  /** Newest first, those below `before` only when it is given. */
  *newest(before?: string): Generator<Entry> {
    const order = this.inOrder();
    for (let at = (before === undefined ? order.length : lowerBound(order, before)) - 1; at >= 0; at -= 1) {
      const entry = this.entries.get(order[at] ?? "");
      if (entry !== undefined) yield entry;
    }
  }

  private inOrder(): readonly string[] {
    if (!this.isOrdered) this.compact();
    return this.ordered;
  }

  private compact(): void {
    this.ordered = [...this.entries.keys()].sort();
    this.isOrdered = true;
  }
}

function lowerBound(order: readonly string[], id: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((order[middle] ?? "") < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
