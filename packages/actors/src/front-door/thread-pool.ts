import { MessageChannel } from "node:worker_threads";
import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { routingHash } from "@millrace/base/hash";
import type { Log } from "@millrace/base/log";
import { invocationKey } from "@millrace/proto/tokens";
import type { ThreadSettings, ThreadStart } from "../thread-messages.ts";
import type { ConnectionStart, Ingest, IngestListener, Lane } from "./ingest.ts";
import { type LinkCounters, ThreadLink } from "./thread-link.ts";

/**
 * Runs the long-lived task of one thread until it is drained; fails when the thread dies. Aborting the signal kills
 * the thread.
 */
export type ThreadRunner = (start: ThreadStart, signal: AbortSignal) => Promise<void>;

export interface ThreadPoolPorts {
  readonly run: ThreadRunner;
  readonly clock: Clock;
  readonly log: Log;
}

/** First and longest wait before a dead thread is started again; doubled each time it dies soon after a start. */
const restartDelayMs = 100;
const restartDelayMaxMs = 10_000;
/** A thread that lived this long is taken for sound. */
const soundAfterMs = 60_000;

interface Slot {
  readonly index: number;
  link: ThreadLink | undefined;
  kill: AbortController;
  done: Promise<void>;
  startedAt: number;
  delayMs: number;
  readonly waiting: Set<() => void>;
}

/** The worker threads: which invocation is served by which, and what happens when one dies. */
export class ThreadPool implements Ingest {
  /** Since the start of the process, all threads together. */
  readonly counters: LinkCounters = { events: 0, eventBytes: 0, arenas: 0, largeEvents: 0 };
  /** What each thread last said about itself. */
  readonly threadCounters: Readonly<Record<string, number>>[] = [];
  restarts = 0;
  private readonly slots: Slot[];
  private readonly settings: ThreadSettings;
  private readonly ports: ThreadPoolPorts;
  private isDraining = false;

  constructor(settings: { threads: number; thread: ThreadSettings }, ports: ThreadPoolPorts) {
    this.settings = settings.thread;
    this.ports = ports;
    this.slots = Array.from({ length: settings.threads }, (_, index) => ({
      index,
      link: undefined,
      kill: new AbortController(),
      done: Promise.resolve(),
      startedAt: 0,
      delayMs: restartDelayMs,
      waiting: new Set(),
    }));
  }

  start(): void {
    for (const slot of this.slots) this.launch(slot);
  }

  connect(start: ConnectionStart, listener: IngestListener): Lane | undefined {
    return this.slotOf(start).link?.connect(start, listener);
  }

  whenUp(invocation: { project: string; invocationId: string }, action: () => void): () => void {
    const slot = this.slotOf(invocation);
    if (slot.link !== undefined) {
      action();
      return () => {};
    }
    slot.waiting.add(action);
    return () => slot.waiting.delete(action);
  }

  /** Has a thread fail as a defect would, for tests. False when there is no such thread. */
  crash(index: number): boolean {
    const slot = this.slots[index];
    slot?.link?.crash();
    return slot !== undefined;
  }

  /** Asks every thread to finish; resolves when all have, or after the deadline, when the rest is killed. */
  async drain(deadlineMs: number): Promise<void> {
    this.isDraining = true;
    for (const slot of this.slots) slot.link?.drain();
    const cancel = this.ports.clock.after(deadlineMs, () => {
      for (const slot of this.slots) slot.kill.abort();
    });
    await Promise.all(this.slots.map((slot) => slot.done));
    cancel();
  }

  private slotOf(invocation: { project: string; invocationId: string }): Slot {
    const key = invocationKey(invocation.project, invocation.invocationId);
    return this.slots[routingHash(key) % this.slots.length] as Slot;
  }

  private launch(slot: Slot): void {
    const { port1, port2 } = new MessageChannel();
    const link = new ThreadLink(port1, {
      counters: this.counters,
      onStats: (counters) => {
        this.threadCounters[slot.index] = counters;
      },
    });
    slot.link = link;
    slot.kill = new AbortController();
    slot.startedAt = this.ports.clock.monotonic();
    slot.done = this.ports.run({ port: port2, settings: this.settings }, slot.kill.signal).then(
      () => this.gone(slot, link),
      (error: unknown) => this.gone(slot, link, error),
    );
    const waiting = [...slot.waiting];
    slot.waiting.clear();
    for (const action of waiting) action();
  }

  private gone(slot: Slot, link: ThreadLink, error?: unknown): void {
    slot.link = undefined;
    link.lose();
    if (this.isDraining) return;
    this.restarts += 1;
    const { clock, log } = this.ports;
    if (clock.monotonic() - slot.startedAt >= soundAfterMs) slot.delayMs = restartDelayMs;
    log.error("a worker thread died", {
      thread: slot.index,
      error: error === undefined ? "its task ended unasked" : errorText(error),
      restartInMs: slot.delayMs,
    });
    clock.after(slot.delayMs, () => {
      if (!this.isDraining) this.launch(slot);
    });
    slot.delayMs = Math.min(slot.delayMs * 2, restartDelayMaxMs);
  }
}
