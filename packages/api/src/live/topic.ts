import type { BusSubscription } from "@millrace/proto/bus";
import type { LiveEvent, Outbox } from "./outbox.ts";

/** What several viewers watch together: one invocation, or one project. */
export class Topic {
  readonly viewers = new Set<Outbox>();
  private subscription: BusSubscription | undefined;

  /** Takes the place of an older subscription, which belonged to a lost bus. */
  subscribed(subscription: BusSubscription): void {
    this.unsubscribe();
    this.subscription = subscription;
  }

  get isSubscribed(): boolean {
    return this.subscription !== undefined;
  }

  unsubscribe(): void {
    // A subscription of a closed connection is gone already; there is nothing left to stop.
    void this.subscription?.stop().catch(() => {});
    this.subscription = undefined;
  }

  offer(key: string, event: LiveEvent): void {
    for (const viewer of this.viewers) viewer.offer(key, event);
  }
}

/** Topics by key, made with their first viewer and dropped with their last. */
export class Topics<T extends Topic> {
  private readonly topics = new Map<string, T>();

  get(key: string): T | undefined {
    return this.topics.get(key);
  }

  all(): T[] {
    return [...this.topics.values()];
  }

  add(key: string, viewer: Outbox, make: () => T): T {
    const topic = this.topics.get(key) ?? make();
    this.topics.set(key, topic);
    topic.viewers.add(viewer);
    return topic;
  }

  remove(key: string, viewer: Outbox): void {
    const topic = this.topics.get(key);
    if (topic === undefined || !topic.viewers.delete(viewer) || topic.viewers.size > 0) return;
    topic.unsubscribe();
    this.topics.delete(key);
  }
}
