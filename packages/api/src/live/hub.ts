import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Matcher } from "@millrace/base/query/match-query";
import type { Bus } from "@millrace/proto/bus";
import { liveChannel, liveSubject, liveSubjectsOfProject } from "@millrace/proto/channels";
import type { ILiveDigest } from "@millrace/proto/pipeline";
import type { WatchedState } from "../queries/watch.ts";
import type { Build } from "../resources/build.ts";
import { type Change, type ChangedName, Changes, changedKey, everything } from "./changes.ts";
import { eventStream } from "./event-stream.ts";
import {
  heartbeatEvent,
  invocationOutbox,
  projectOutbox,
  resetEvent,
  stateEvent,
  statePlace,
} from "./live-events.ts";
import type { LiveStore } from "./live-store.ts";
import type { Outbox } from "./outbox.ts";
import { ProjectTopic, ViewerFilter } from "./project-topic.ts";
import { Topic, Topics } from "./topic.ts";

/** Viewers see a build move at most this often. */
const flushPeriodMs = 250;
/** Reading takes at most a fifth of the time: a slow database is asked less often. */
const restPerWork = 4;
export const heartbeatPeriodMs = 5_000;
/** Builds read at a time. */
const flushBuildsMax = 500;

class InvocationTopic extends Topic {
  readonly name: ChangedName;
  state: WatchedState | undefined;
  constructor(name: ChangedName) {
    super();
    this.name = name;
  }
}

/**
 * Tells viewers what was committed. A digest from NATS only says where to look: what is sent is read from the database, once for
 * all viewers. Every 5 s the position of everything that is watched is compared, so that a lost digest, or a NATS that is
 * away, delays a page by 5 s and no more.
 */
export class LiveHub {
  private readonly store: LiveStore;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly invocations = new Topics<InvocationTopic>();
  private readonly projects = new Topics<ProjectTopic>();
  private readonly changes = new Changes();
  private bus: Bus | undefined;
  private flushing = false;
  private restUntil = 0;
  private cancelFlush: (() => void) | undefined;
  private cancelHeartbeat: (() => void) | undefined;
  private newest = 0;
  private stale = false;

  constructor(parts: { store: LiveStore; clock: Clock; log: Log }) {
    this.store = parts.store;
    this.clock = parts.clock;
    this.log = parts.log;
  }

  get viewers(): number {
    const topics: Topic[] = [...this.invocations.all(), ...this.projects.all()];
    return topics.reduce((sum, topic) => sum + topic.viewers.size, 0);
  }

  /** Begins to listen, also for those who watch already. */
  attach(bus: Bus): void {
    this.bus = bus;
    for (const topic of this.invocations.all()) this.listen(topic, liveSubjectOf(topic.name));
    for (const topic of this.projects.all()) this.listen(topic, liveSubjectsOfProject(topic.project));
  }

  start(): void {
    const beat = (): void => {
      this.cancelHeartbeat = this.clock.after(heartbeatPeriodMs, () => {
        void this.heartbeat().finally(() => {
          if (this.cancelHeartbeat !== undefined) beat();
        });
      });
    };
    beat();
  }

  /** Ends every stream; viewers connect again, elsewhere. */
  stop(): void {
    this.cancelHeartbeat?.();
    this.cancelHeartbeat = undefined;
    this.cancelFlush?.();
    for (const topic of [...this.invocations.all(), ...this.projects.all()]) {
      for (const viewer of [...topic.viewers]) viewer.close();
    }
  }

  /** States of one invocation, beginning with the present one. `lastPlace` is what the viewer saw last. */
  watchInvocation(name: ChangedName, lastPlace: string | undefined): ReadableStream<Uint8Array> {
    const outbox = invocationOutbox();
    const key = changedKey(name);
    const topic = this.invocations.add(key, outbox, () => new InvocationTopic(name));
    this.listen(topic, liveSubjectOf(name));
    void this.greet(outbox, name, lastPlace);
    return eventStream(outbox, () => this.invocations.remove(key, outbox));
  }

  /** Builds of one project that fulfil a query, as they change. The viewer reads the list itself, after the first event. */
  watchProject(project: string, matcher?: Matcher): ReadableStream<Uint8Array> {
    const outbox = projectOutbox();
    const topic = this.projects.add(project, outbox, () => new ProjectTopic(project));
    if (matcher !== undefined) topic.filters.set(outbox, new ViewerFilter(matcher));
    this.listen(topic, liveSubjectsOfProject(project));
    outbox.offer("", resetEvent);
    return eventStream(outbox, () => this.projects.remove(project, outbox));
  }

  /** Compares what is stored with what was sent, reads what differs, and tells every viewer that we are here. */
  async heartbeat(): Promise<void> {
    try {
      await this.compare();
      this.stale = false;
    } catch (error) {
      if (!this.stale) this.log.warn("live states cannot be read", { error: errorText(error) });
      this.stale = true;
    }
    if (!this.stale) await this.flush();
    const now = this.clock.now();
    for (const topic of this.invocations.all()) {
      topic.offer("heartbeat", heartbeatEvent(now, { stale: this.stale, state: topic.state }));
    }
    for (const topic of this.projects.all()) {
      topic.offer("heartbeat", heartbeatEvent(now, { stale: this.stale, state: undefined }));
    }
  }

  private listen(topic: Topic, subject: string): void {
    if (this.bus === undefined || topic.isSubscribed) return;
    topic.subscribed(this.bus.subscribe(liveChannel, subject, (digest) => this.onDigest(digest)));
  }

  private onDigest(digest: ILiveDigest): void {
    const name = { project: digest.project ?? "", invocationId: digest.invocationId ?? "" };
    this.changes.add(name, {
      attempt: digest.attempt ?? 0,
      labels: digest.changedLabels ?? [],
      all: digest.allChanged ?? false,
    });
    this.scheduleFlush();
  }

  private scheduleFlush(): void {
    if (this.flushing || this.cancelFlush !== undefined) return;
    const wait = Math.max(0, this.restUntil - this.clock.monotonic());
    this.cancelFlush = this.clock.after(wait, () => void this.flush());
  }

  private async flush(): Promise<void> {
    if (this.flushing) return;
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    this.flushing = true;
    const began = this.clock.monotonic();
    const taken = this.changes.take(flushBuildsMax);
    try {
      for (const [project, changed] of Map.groupBy(taken, (each) => each.name.project)) {
        await this.tell(project, changed);
      }
    } catch (error) {
      // What was not told stays changed; the next heartbeat tries again.
      for (const { name, change } of taken) this.changes.add(name, change);
      if (!this.stale) this.log.warn("changed builds cannot be read", { error: errorText(error) });
      this.stale = true;
    }
    this.flushing = false;
    const now = this.clock.monotonic();
    this.restUntil = now + Math.max(flushPeriodMs, restPerWork * (now - began));
    if (!this.stale && this.changes.size > 0) this.scheduleFlush();
  }

  private async tell(project: string, changed: { name: ChangedName; change: Change }[]): Promise<void> {
    const byId = new Map(changed.map((each) => [each.name.invocationId, each.change]));
    for (const { build, record } of await this.store.builds(project, [...byId.keys()])) {
      this.invocations
        .get(changedKey(build))
        ?.offer("state", stateEvent(build, byId.get(build.invocationId) ?? everything));
      this.projects.get(project)?.tell(build, (matcher) => matcher(record, this.clock.now()));
    }
  }

  private async greet(outbox: Outbox, name: ChangedName, lastPlace: string | undefined): Promise<void> {
    try {
      const [found] = await this.store.builds(name.project, [name.invocationId]);
      if (found === undefined) return;
      outbox.offer("state", stateEvent(found.build, sinceLast(found.build, lastPlace)));
    } catch (error) {
      this.log.warn("a watched build cannot be read", { error: errorText(error) });
      this.changes.add(name, everything);
    }
  }

  private async compare(): Promise<void> {
    const names = this.invocations.all().map((topic) => topic.name);
    for (const state of await this.store.watched(names)) {
      const topic = this.invocations.get(changedKey(state));
      if (topic === undefined) continue;
      if (differs(topic.state, state)) this.changes.add(topic.name, everything);
      topic.state = state;
    }
    const projects = this.projects.all();
    if (projects.length === 0) return;
    if (this.newest === 0) this.newest = await this.store.newest();
    const states = await this.store.running(
      projects.map((topic) => topic.project),
      this.newest,
    );
    for (const topic of projects) {
      this.compareProject(
        topic,
        states.filter((state) => state.project === topic.project),
      );
    }
    this.newest = Math.max(this.newest, ...states.map((state) => state.attemptId));
  }

  private compareProject(topic: ProjectTopic, states: readonly WatchedState[]): void {
    const before = topic.running;
    topic.running = new Map();
    for (const state of states) {
      if (differs(before.get(state.attemptId), state)) this.changes.add(state, everything);
      before.delete(state.attemptId);
      if (state.status === "running") topic.running.set(state.attemptId, state);
    }
    // What ran and does not any more has ended.
    for (const ended of before.values()) this.changes.add(ended, everything);
  }
}

function liveSubjectOf(name: ChangedName): string {
  return liveSubject(name.project, name.invocationId);
}

function differs(before: WatchedState | undefined, now: WatchedState): boolean {
  return before === undefined || statePlace(before) !== statePlace(now) || before.attemptId !== now.attemptId;
}

/** A viewer who comes back to the same place has missed nothing. */
function sinceLast(build: Build, lastPlace: string | undefined): Change {
  if (lastPlace !== statePlace(build)) return everything;
  return { attempt: build.attempt, labels: [], all: false };
}
