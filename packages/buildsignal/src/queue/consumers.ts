import { AssertionFailure, assert } from "@millrace/base/assert";
import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { Finisher } from "./finisher.ts";
import type { Claimed, Delivery, Finish, QueueStore } from "./message.ts";
import { deadGroupOf, deadTopicOf, originOf } from "./message.ts";
import type { QueueMetrics } from "./metrics.ts";
import { finishAfterError, finishAfterOutcome, type Outcome } from "./outcome.ts";
import type { TopicSettings } from "./topic-settings.ts";

/** Handles one delivery. It returns what is to become of it or throws; `signal` tells it to give up. */
export type Handler = (delivery: Delivery, signal: AbortSignal) => Promise<Outcome>;

export interface Subscription {
  readonly topic: string;
  readonly group: string;
  readonly settings: TopicSettings;
  readonly handle: Handler;
}

export interface ConsumerWorld {
  readonly queue: QueueStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: QueueMetrics;
  /** A broken invariant of ours. */
  fail(error: AssertionFailure): void;
}

/** Claims are at least so far apart unless something was published: what falls due together is taken together. */
const claimGapMs = 20;
/** After a claim that failed. */
const claimRetryMs = 1_000;
/** Running handlers may end by themselves for so long, then they are told to, and then left behind. */
const stopGraceMs = 5_000;
const stopAbortMs = 3_000;

interface Running {
  readonly delivery: Delivery;
  readonly settings: TopicSettings;
  readonly abort: AbortController;
  readonly startedMs: number;
  renewedMs: number;
}

/**
 * Takes what is due from the queue and hands it to handlers, as many at once as each topic allows. It sleeps until
 * the earliest due time of all partitions and is woken by publishes; it never asks on a schedule.
 */
export class Consumers {
  readonly name = "consumers";
  readonly #subscriptions: readonly Subscription[];
  readonly #world: ConsumerWorld;
  readonly #finisher: Finisher;
  readonly #running = new Set<Running>();
  readonly #counts = new Map<Subscription, number>();
  readonly #ends = new Set<Promise<void>>();
  #timer: { atMs: number; cancel: () => void } | undefined;
  #cancelRenewal: (() => void) | undefined;
  #turn: Promise<void> | undefined;
  #isWoken = false;
  #isStopping = false;

  constructor(subscriptions: readonly Subscription[], world: ConsumerWorld) {
    assertReconciled(subscriptions);
    this.#subscriptions = subscriptions;
    this.#world = world;
    this.#finisher = new Finisher(world.queue, world, (inMs) => this.#wakeIn(inMs));
  }

  /** Something may be due now. */
  wake(): void {
    if (this.#isStopping) return;
    this.#isWoken = true;
    this.#turn ??= this.#runTurns().finally(() => {
      this.#turn = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /** Hands nothing out any more; what runs may end, then is told to end, then is left to its visibility. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#timer?.cancel();
    await this.#turn;
    await this.#settled(stopGraceMs);
    for (const one of this.#running) one.abort.abort();
    await this.#settled(stopAbortMs);
    this.#cancelRenewal?.();
  }

  get runningCount(): number {
    return this.#running.size;
  }

  async #settled(withinMs: number): Promise<void> {
    if (this.#ends.size === 0) return;
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#world.clock.after(withinMs, resolve);
    });
    await Promise.race([Promise.allSettled([...this.#ends]), late]);
    cancel();
  }

  async #runTurns(): Promise<void> {
    while (this.#isWoken && !this.#isStopping) {
      this.#isWoken = false;
      try {
        await this.#takeDue();
      } catch (error) {
        this.#world.log.warn("nothing could be claimed", { error: errorText(error) });
        this.#wakeIn(claimRetryMs);
      }
    }
  }

  async #takeDue(): Promise<void> {
    const asks = this.#subscriptions.flatMap((one) => {
      const room = one.settings.concurrency - this.#countOf(one);
      const { visibility_ms: visibilityMs, attempts_max: attemptsMax } = one.settings;
      return room > 0 ? [{ topic: one.topic, group: one.group, room, visibilityMs, attemptsMax }] : [];
    });
    if (asks.length === 0) return; // The next that ends wakes.
    const claimed: Claimed = await this.#world.queue.claim(asks);
    for (const delivery of claimed.exhausted) {
      this.#world.log.error("a delivery was not finished in all its attempts", about(delivery));
      this.#world.metrics.exhausted(delivery);
    }
    for (const delivery of claimed.deliveries) this.#start(delivery);
    if (claimed.nextDueInMs !== undefined) this.#wakeIn(claimed.nextDueInMs);
  }

  #countOf(subscription: Subscription): number {
    return this.#counts.get(subscription) ?? 0;
  }

  /** Keeps the earliest time only: a turn too many finds nothing, a turn too late is late. */
  #wakeIn(inMs: number): void {
    if (this.#isStopping) return;
    const delayMs = Math.max(claimGapMs, inMs);
    const atMs = this.#world.clock.monotonic() + delayMs;
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    const cancel = this.#world.clock.after(Math.min(delayMs, timerMsMax), () => {
      this.#timer = undefined;
      this.wake();
    });
    this.#timer = { atMs, cancel };
  }

  #start(delivery: Delivery): void {
    const subscription = this.#subscriptions.find(
      (one) => one.topic === delivery.topic && one.group === delivery.group,
    );
    assert(subscription !== undefined, "only what was asked for is handed out");
    const nowMs = this.#world.clock.monotonic();
    const running: Running = {
      delivery,
      settings: subscription.settings,
      abort: new AbortController(),
      startedMs: nowMs,
      renewedMs: nowMs,
    };
    this.#running.add(running);
    this.#counts.set(subscription, this.#countOf(subscription) + 1);
    this.#world.metrics.handedOver(delivery);
    this.#renewLater();
    const end = this.#handle(subscription, running).finally(() => {
      this.#running.delete(running);
      this.#ends.delete(end);
      const before = this.#countOf(subscription);
      this.#counts.set(subscription, before - 1);
      // A topic that was full may have more; one that was not knows when its next is due.
      if (before >= subscription.settings.concurrency) this.#wakeIn(0);
    });
    this.#ends.add(end);
  }

  async #handle(subscription: Subscription, running: Running): Promise<void> {
    const { delivery, startedMs } = running;
    const finish = await this.#decide(subscription, running);
    if (finish === undefined) return;
    const result = await this.#finisher.finish({ delivery, finish });
    const tookMs = this.#world.clock.monotonic() - startedMs;
    this.#world.metrics.ended(delivery, { finish, result, tookMs });
    if (result === "stale") {
      this.#world.log.warn("a delivery was finished after its visibility", about(delivery));
    }
    if (finish.kind === "dead") {
      this.#world.log.error("a delivery was given up", { ...about(delivery), reason: finish.reason });
      this.wake();
    }
  }

  async #decide(subscription: Subscription, running: Running): Promise<Finish | undefined> {
    const { delivery } = running;
    const at = { delivery, settings: subscription.settings };
    try {
      return finishAfterOutcome(await subscription.handle(delivery, running.abort.signal), at);
    } catch (error) {
      if (error instanceof AssertionFailure) {
        this.#world.fail(error);
        return undefined;
      }
      if (this.#isStopping && running.abort.signal.aborted) return { kind: "return" };
      const finish = finishAfterError(error, { ...at, fraction: this.#world.random.fraction() });
      if (finish.kind === "retry") {
        this.#world.log.warn("a delivery failed and comes again", {
          ...about(delivery),
          delayMs: finish.delayMs,
          error: errorText(error),
        });
      }
      return finish;
    }
  }

  #renewLater(): void {
    if (this.#cancelRenewal !== undefined) return;
    const periods = this.#subscriptions.map((one) => one.settings.visibility_ms);
    this.#cancelRenewal = this.#world.clock.after(Math.min(...periods) / 4, () => {
      this.#cancelRenewal = undefined;
      void this.#renew().finally(() => {
        if (this.#running.size > 0) this.#renewLater();
      });
    });
  }

  /** At half their visibility; a handler past its limit is told to stop instead. */
  async #renew(): Promise<void> {
    const nowMs = this.#world.clock.monotonic();
    const byVisibility = new Map<number, Running[]>();
    for (const one of this.#running) {
      const { visibility_ms: visibilityMs, handler_ms_max: handlerMsMax } = one.settings;
      if (nowMs - one.startedMs >= handlerMsMax) one.abort.abort();
      else if (nowMs - one.renewedMs >= visibilityMs / 2 - 1) {
        byVisibility.set(visibilityMs, [...(byVisibility.get(visibilityMs) ?? []), one]);
      }
    }
    for (const [visibilityMs, ones] of byVisibility) {
      try {
        const deliveries = ones.map((one) => one.delivery);
        await this.#world.queue.extend(deliveries, visibilityMs);
        for (const one of ones) one.renewedMs = nowMs;
      } catch (error) {
        this.#world.log.warn("visibility was not renewed", { error: errorText(error) });
      }
    }
  }
}

/** The longest that a timer of JavaScript can wait. */
const timerMsMax = 2_147_000_000;

function about(delivery: Delivery): Record<string, unknown> {
  const { topic, group, messageId, attempt } = delivery;
  return { topic, group, messageId, attempt };
}

/** A topic whose dead letters nobody reconciles would keep its requests open and their slots taken. */
function assertReconciled(subscriptions: readonly Subscription[]): void {
  for (const one of subscriptions) {
    if (originOf(one.topic) !== undefined) continue;
    const isReconciled = subscriptions.some(
      (other) => other.topic === deadTopicOf(one.topic) && other.group === deadGroupOf(one.group),
    );
    assert(isReconciled, `the dead letters of ${one.topic} have a reconciler`);
  }
}
