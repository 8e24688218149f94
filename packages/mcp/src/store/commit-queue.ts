import { type Latch, latch } from "@millrace/base/latch";
import type { Publisher } from "./journal.ts";
import { storeError } from "./private-file.ts";

/** One change of one invocation. `write` puts it on disk, synchronously, and throws when it cannot. */
interface Change {
  readonly id: string;
  readonly write: () => void;
  readonly done: Latch<void>;
}

/**
 * All changes of a process go through one queue. What is asked for in one turn of the event loop shares one journal
 * append and one marker rename, so many writers cost less each than one does.
 */
export class CommitQueue {
  private readonly publisher: Publisher;
  private waiting: Change[] = [];
  private isScheduled = false;
  /** Turns so far, for the benchmark. */
  turns = 0;

  constructor(publisher: Publisher) {
    this.publisher = publisher;
  }

  /** Resolves when the change is on disk and announced; fails with the error of its own write. */
  commit(id: string, write: () => void): Promise<void> {
    const change: Change = { id, write, done: latch<void>() };
    this.waiting.push(change);
    if (!this.isScheduled) {
      this.isScheduled = true;
      setImmediate(() => this.turn());
    }
    return change.done.promise;
  }

  private turn(): void {
    const changes = this.waiting;
    this.waiting = [];
    this.isScheduled = false;
    this.turns += 1;
    try {
      this.publisher.announce(changes.map((change) => change.id));
    } catch (error) {
      for (const change of changes) change.done.fail(storeError("cannot write the change journal", error));
      return;
    }
    const failures = changes.map((change) => attempt(change.write));
    let settleFailure: { readonly error: unknown } | undefined;
    try {
      this.publisher.settle();
    } catch (error) {
      settleFailure = { error: storeError("cannot publish the change", error) };
    }
    changes.forEach((change, index) => {
      const failure = failures[index] ?? settleFailure;
      if (failure === undefined) change.done.open();
      else change.done.fail(failure.error);
    });
  }
}

function attempt(write: () => void): { readonly error: unknown } | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    return { error: storeError("cannot write an invocation's record", error) };
  }
}
