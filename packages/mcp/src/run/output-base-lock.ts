import { createHash } from "node:crypto";
import path from "node:path";
import type { Clock } from "@millrace/base/clock";
import { type HeldLock, type LockHolder, tryLock } from "../store/lease-lock.ts";
import { claimPrivateDirectory } from "../store/private-file.ts";

const pollFirstMs = 20;
const pollMaxMs = 250;

/** Waits for an output base among all servers of this user. */
export interface OutputBaseWait {
  readonly key: string;
  readonly invocation: string;
  /** Ends the waiting. */
  readonly gaveUp: Promise<unknown>;
  /** Told who holds it, each time it is found busy; undefined for another invocation of this process. */
  readonly onBusy: (holder: LockHolder | undefined) => void;
}

/** Bazel serves one command per output base; waiting here, in order and cancellable, beats waiting in its client. */
export class OutputBaseLocks {
  private readonly directory: string;
  private readonly clock: Clock;
  /** The end of the queue of each output base in this process. */
  private readonly tails = new Map<string, Promise<void>>();

  constructor(at: { directory: string; clock: Clock }) {
    this.directory = at.directory;
    this.clock = at.clock;
  }

  /** Resolves to the lock, or to undefined when `gaveUp` came first. */
  async acquire(wait: OutputBaseWait): Promise<HeldLock | undefined> {
    const before = this.tails.get(wait.key) ?? Promise.resolve();
    if (this.tails.has(wait.key)) wait.onBusy(undefined);
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const tail = before.then(() => done);
    this.tails.set(wait.key, tail);
    const leave = (): void => {
      finish();
      if (this.tails.get(wait.key) === tail) this.tails.delete(wait.key);
    };
    let hasGivenUp = false;
    void wait.gaveUp.then(() => {
      hasGivenUp = true;
    });
    await Promise.race([before, wait.gaveUp]);
    const lock = hasGivenUp ? undefined : await this.acquireAmongProcesses(wait, () => hasGivenUp);
    if (lock === undefined) {
      leave();
      return undefined;
    }
    return {
      release: () => {
        lock.release();
        leave();
      },
    };
  }

  private async acquireAmongProcesses(
    wait: OutputBaseWait,
    hasGivenUp: () => boolean,
  ): Promise<HeldLock | undefined> {
    claimPrivateDirectory(this.directory);
    const directory = path.join(
      this.directory,
      createHash("sha256").update(wait.key).digest("hex").slice(0, 32),
    );
    for (let pollMs = pollFirstMs; !hasGivenUp(); pollMs = Math.min(pollMaxMs, pollMs * 1.5)) {
      const attempt = tryLock({ directory, purpose: wait.invocation, clock: this.clock });
      if (attempt.kind === "held") return attempt.lock;
      wait.onBusy(attempt.holder);
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = this.clock.after(pollMs, resolve);
      await Promise.race([promise, wait.gaveUp]);
      cancel();
    }
    return undefined;
  }
}
