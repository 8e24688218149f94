import type { Clock } from "@millrace/base/clock";

/** What makes a group worth a transaction of its own while another one is on its way. */
const sizeableWorks = 64;
const sizeableBytes = 128 * 1024;

/** A group that takes longer than this is in trouble: nothing waits for it. */
const patienceMs = 50;

interface Load {
  readonly works: number;
  readonly bytes: number;
}

/**
 * Says when a group may begin. An idle writer begins at once, whatever there is. Beside a group that is being
 * committed only a sizeable one begins: a transaction costs about the same with one work as with ten, and what
 * waits for the first commit leaves in one group after it.
 */
export class GroupGate {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #groups = 0;
  #committing: Load = { works: 0, bytes: 0 };
  #begunAt = 0;
  #isTimed = false;

  /** `wake` is called when the answer may have changed with time alone. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** `held`: all that the inbox holds, what is being committed included. */
  mayBegin(held: Load): boolean {
    if (this.#groups === 0) return true;
    if (held.works - this.#committing.works >= sizeableWorks) return true;
    if (held.bytes - this.#committing.bytes >= sizeableBytes) return true;
    const leftMs = this.#begunAt + patienceMs - this.#clock.now();
    if (leftMs <= 0) return true;
    this.#wakeAfter(leftMs);
    return false;
  }

  begun(group: Load): void {
    this.#groups += 1;
    this.#begunAt = this.#clock.now();
    this.#count(group, 1);
  }

  ended(group: Load): void {
    this.#groups -= 1;
    this.#count(group, -1);
  }

  #count(group: Load, sign: 1 | -1): void {
    const { works, bytes } = this.#committing;
    this.#committing = { works: works + sign * group.works, bytes: bytes + sign * group.bytes };
  }

  #wakeAfter(delayMs: number): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#clock.after(delayMs, () => {
      this.#isTimed = false;
      this.#wake();
    });
  }
}
