import type { Reply, Work } from "./work.ts";

/**
 * Why a work was not decided.
 *
 * - `ahead`: its predecessor is missing. It waits for something new of its invocation.
 * - `busy`: another process holds the rows. It waits a moment.
 * - `next`: another work of its invocation had to be decided first. It waits for nothing.
 */
export type WaitReason = "ahead" | "busy" | "next";

/** A work in the inbox, with all that have asked for it. */
export class InboxItem {
  readonly work: Work;
  readonly identity: string;
  readonly bytes: number;
  readonly flow: Flow;
  /** When it was asked for last. */
  askedAt: number;
  /** Set by whoever decides a group and cannot decide this; undefined otherwise. */
  wait: WaitReason | undefined;
  #isAnswered = false;
  #repliers: ((reply: Reply) => void)[] = [];
  readonly #onAnswered: (item: InboxItem) => void;

  constructor(
    of: { work: Work; identity: string; bytes: number; flow: Flow; askedAt: number },
    onAnswered: (item: InboxItem) => void,
  ) {
    this.work = of.work;
    this.identity = of.identity;
    this.bytes = of.bytes;
    this.flow = of.flow;
    this.askedAt = of.askedAt;
    this.#onAnswered = onAnswered;
  }

  /** Neither answered nor told to wait. */
  get isUndecided(): boolean {
    return !this.#isAnswered && this.wait === undefined;
  }

  ask(now: number, replier: (reply: Reply) => void): void {
    this.askedAt = now;
    this.#repliers.push(replier);
  }

  /** Answers everybody who has asked. Who asks from now on has a work of his own. */
  answer(reply: Reply): void {
    this.wait = undefined;
    this.#isAnswered = true;
    this.#onAnswered(this);
    for (const replier of this.#repliers) replier(reply);
    this.#repliers = [];
  }
}

/** The works of one invocation, in the order in which they are to be decided. */
export class Flow {
  readonly project: string;
  readonly name: string;
  /** Something came since the last group that took from here. */
  fresh = false;
  /** A group of it is being committed. */
  inFlight = false;
  /** Its rows were held by another process a moment ago. */
  held = false;
  readonly #items: InboxItem[] = [];

  constructor(project: string, name: string) {
    this.project = project;
    this.name = name;
  }

  get isReady(): boolean {
    return this.fresh && !this.inFlight && !this.held && this.#items.length > 0;
  }

  /** Puts an item at its place: by first sequence number, what has none in front. */
  add(item: InboxItem): void {
    const rank = rankOf(item);
    let at = this.#items.length;
    for (;;) {
      const before = this.#items[at - 1];
      if (before === undefined || rankOf(before) <= rank) break;
      at -= 1;
    }
    this.#items.splice(at, 0, item);
  }

  peek(): InboxItem | undefined {
    return this.#items[0];
  }

  shift(): InboxItem | undefined {
    return this.#items.shift();
  }

  /** Takes out what was asked for last before `instant`. */
  takeOlderThan(instant: number): InboxItem[] {
    const old = this.#items.filter((item) => item.askedAt < instant);
    const kept = this.#items.filter((item) => item.askedAt >= instant);
    this.#items.splice(0, this.#items.length, ...kept);
    return old;
  }
}

function rankOf(item: InboxItem): number {
  return item.work.kind === "batch" ? item.work.first : 0;
}
