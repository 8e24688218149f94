import type { Clock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import type { Matcher } from "@millrace/base/query/match-query";
import type { Bus } from "@millrace/proto/bus";
import type { ILiveDigest } from "@millrace/proto/pipeline";
import { beforeEach, describe, expect, test } from "vitest";
import type { WatchedState } from "../queries/watch.ts";
import type { Build } from "../resources/build.ts";
import { heartbeatPeriodMs, LiveHub } from "./hub.ts";
import type { LiveBuild, LiveStore } from "./live-store.ts";

/** A clock that stands until it is moved. */
class ScriptedClock implements Clock {
  private at = 0;
  private timers: { due: number; action: () => void }[] = [];
  now = () => 1_796_000_000_000 + this.at;
  monotonic = () => this.at;
  after(delayMs: number, action: () => void): () => void {
    const timer = { due: this.at + delayMs, action };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((each) => each !== timer);
    };
  }
  async move(ms: number): Promise<void> {
    const end = this.at + ms;
    for (;;) {
      await settled();
      const next = this.timers.filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.at = Math.max(this.at, next.due);
      this.timers = this.timers.filter((each) => each !== next);
      next.action();
    }
    this.at = end;
    await settled();
  }
}

/** Lets everything that is ready run: no timer of the system is waited for. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Committed rows, and how often they were read. */
class ModelStore implements LiveStore {
  rows = new Map<string, WatchedState>();
  reads = 0;
  heartbeats = 0;
  away = false;
  buildsAway = false;
  commit(invocationId: string, lastSequence: number, status: WatchedState["status"] = "running"): void {
    const attemptId = this.rows.get(invocationId)?.attemptId ?? this.rows.size + 1;
    this.rows.set(invocationId, { project: "p", invocationId, attemptId, attempt: 1, status, lastSequence });
  }
  async builds(project: string, ids: readonly string[]): Promise<LiveBuild[]> {
    this.check();
    if (this.buildsAway) throw new Error("the rows are away");
    this.reads += 1;
    return [...this.rows.values()]
      .filter((row) => row.project === project && ids.includes(row.invocationId))
      .map((row) => ({
        build: { ...row } as unknown as Build,
        record: { texts: { status: [row.status] }, numbers: { sequence: row.lastSequence }, free: [] },
      }));
  }
  async watched(names: readonly { invocationId: string }[]): Promise<WatchedState[]> {
    this.check();
    this.heartbeats += 1;
    return names.flatMap((name) => this.rows.get(name.invocationId) ?? []);
  }
  async running(_projects: readonly string[], newest: number): Promise<WatchedState[]> {
    this.check();
    return [...this.rows.values()].filter((row) => row.status === "running" || row.attemptId > newest);
  }
  async newest(): Promise<number> {
    return Math.max(0, ...[...this.rows.values()].map((row) => row.attemptId));
  }
  private check(): void {
    if (this.away) throw new Error("the database is away");
  }
}

/** Digests by hand. */
class ModelBus {
  handlers = new Map<string, Set<(digest: ILiveDigest) => void>>();
  readonly bus = {
    subscribe: (_channel: unknown, subject: string, handler: (digest: ILiveDigest) => void) => {
      const handlers = this.handlers.get(subject) ?? new Set();
      this.handlers.set(subject, handlers.add(handler));
      return { stop: async () => void handlers.delete(handler) };
    },
  } as unknown as Bus;
  digest(invocationId: string, changedLabels: string[] = []): void {
    for (const [subject, handlers] of this.handlers) {
      if (!subject.endsWith(".*") && !subject.includes(invocationId)) continue;
      for (const handler of handlers) handler({ project: "p", invocationId, attempt: 1, changedLabels });
    }
  }
}

const id = "11111111-1111-1111-1111-111111111111";
let clock: ScriptedClock;
let store: ModelStore;
let bus: ModelBus;
let hub: LiveHub;

beforeEach(() => {
  clock = new ScriptedClock();
  store = new ModelStore();
  bus = new ModelBus();
  hub = new LiveHub({ store, clock, log: silentLog });
  hub.attach(bus.bus);
  hub.start();
});

interface Event {
  name: string;
  id: string | undefined;
  data: {
    build?: { invocationId: string; lastSequence: number; status: string };
    changedLabels?: string[];
    allChanged?: boolean;
    stale?: boolean;
    lastSequence?: number | null;
  };
}

/** Reads what is there, as a browser would. */
class Viewer {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  events: Event[] = [];
  ended = false;
  constructor(body: ReadableStream<Uint8Array>) {
    this.reader = body.getReader();
    void this.read();
  }
  take(name: string): Event[] {
    const taken = this.events.filter((event) => event.name === name);
    this.events = this.events.filter((event) => event.name !== name);
    return taken;
  }
  leave(): Promise<void> {
    return this.reader.cancel();
  }
  private async read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.reader.read();
      if (done) break;
      for (const frame of new TextDecoder().decode(value).split("\n\n")) {
        const field = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(frame)?.[1];
        const name = field("event");
        if (name !== undefined)
          this.events.push({ name, id: field("id"), data: JSON.parse(field("data") ?? "null") });
      }
    }
    this.ended = true;
  }
}

describe("a viewer of an invocation", () => {
  test("gets the present state at once and later ones as they are committed", async () => {
    store.commit(id, 5);
    const viewer = new Viewer(hub.watchInvocation({ project: "p", invocationId: id }, undefined));
    await clock.move(0);
    expect(viewer.take("state")).toMatchObject([{ id: "1.5.running", data: { allChanged: true } }]);
    store.commit(id, 9);
    bus.digest(id, ["//a", "//b"]);
    await clock.move(0);
    expect(viewer.take("state")).toMatchObject([
      { id: "1.9.running", data: { allChanged: false, changedLabels: ["//a", "//b"] } },
    ]);
  });

  test("is told at most four times a second, whatever is committed", async () => {
    store.commit(id, 1);
    const viewer = new Viewer(hub.watchInvocation({ project: "p", invocationId: id }, undefined));
    await clock.move(0);
    viewer.take("state");
    store.reads = 0;
    for (let at = 2; at <= 101; at++) {
      store.commit(id, at);
      bus.digest(id, [`//t${at % 3}`]);
      await clock.move(10);
    }
    await clock.move(250);
    expect(store.reads).toBeLessThanOrEqual(6);
    const states = viewer.take("state");
    expect(states.length).toBeLessThanOrEqual(6);
    expect(states.at(-1)).toMatchObject({ id: "1.101.running" });
    expect(new Set(states.flatMap((state) => state.data.changedLabels))).toEqual(
      new Set(["//t0", "//t1", "//t2"]),
    );
  });

  test("who comes back to the same place has missed nothing", async () => {
    store.commit(id, 5);
    const name = { project: "p", invocationId: id };
    const same = new Viewer(hub.watchInvocation(name, "1.5.running"));
    const older = new Viewer(hub.watchInvocation(name, "1.4.running"));
    await clock.move(0);
    expect(same.take("state")).toMatchObject([{ data: { allChanged: false, changedLabels: [] } }]);
    expect(older.take("state")).toMatchObject([{ data: { allChanged: true } }]);
  });

  test("sees the end within a heartbeat when the last digest is lost", async () => {
    store.commit(id, 5);
    const viewer = new Viewer(hub.watchInvocation({ project: "p", invocationId: id }, undefined));
    await clock.move(heartbeatPeriodMs);
    viewer.take("state");
    store.commit(id, 6, "failed");
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("state")).toMatchObject([{ id: "1.6.failed", data: { allChanged: true } }]);
    expect(viewer.take("heartbeat").at(-1)?.data).toMatchObject({ stale: false, lastSequence: 6 });
  });

  test("many of them cost one read a heartbeat and one a change", async () => {
    store.commit(id, 5);
    const name = { project: "p", invocationId: id };
    const viewers = Array.from({ length: 50 }, () => new Viewer(hub.watchInvocation(name, undefined)));
    await clock.move(0);
    for (const viewer of viewers) viewer.take("state");
    store.reads = 0;
    store.commit(id, 6);
    bus.digest(id);
    await clock.move(250);
    expect(store.reads).toBe(1);
    for (const viewer of viewers) expect(viewer.take("state")).toHaveLength(1);
    await clock.move(heartbeatPeriodMs);
    expect(store.heartbeats).toBe(1);
    expect(hub.viewers).toBe(50);
    for (const viewer of viewers) await viewer.leave();
    expect(hub.viewers).toBe(0);
    expect([...bus.handlers.values()].every((handlers) => handlers.size === 0)).toBe(true);
  });

  test("is told when the database is away, and everything after it is back", async () => {
    store.commit(id, 5);
    const viewer = new Viewer(hub.watchInvocation({ project: "p", invocationId: id }, undefined));
    await clock.move(heartbeatPeriodMs);
    viewer.take("state");
    viewer.take("heartbeat");
    store.away = true;
    bus.digest(id, ["//a"]);
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("heartbeat").at(-1)?.data.stale).toBe(true);
    store.away = false;
    store.commit(id, 8);
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("state").at(-1)).toMatchObject({ id: "1.8.running" });
    expect(viewer.take("heartbeat").at(-1)?.data.stale).toBe(false);
  });

  test("is told in the end what could not be read when it was noticed", async () => {
    store.commit(id, 5);
    const viewer = new Viewer(hub.watchInvocation({ project: "p", invocationId: id }, undefined));
    await clock.move(heartbeatPeriodMs);
    viewer.take("state");
    store.commit(id, 8);
    store.buildsAway = true;
    await clock.move(heartbeatPeriodMs);
    store.buildsAway = false;
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("state").at(-1)).toMatchObject({ id: "1.8.running" });
  });

  test("hears the end of the process", async () => {
    const viewer = new Viewer(hub.watchInvocation({ project: "p", invocationId: id }, undefined));
    hub.stop();
    await settled();
    expect(viewer.ended).toBe(true);
  });
});

describe("a viewer of a project", () => {
  test("reads the list after the first event and then gets each changed build", async () => {
    const viewer = new Viewer(hub.watchProject("p"));
    await clock.move(0);
    expect(viewer.take("reset")).toHaveLength(1);
    store.commit(id, 1);
    bus.digest(id);
    await clock.move(250);
    expect(viewer.take("build")).toMatchObject([{ data: { build: { invocationId: id, lastSequence: 1 } } }]);
  });

  test("sees builds whose digests were all lost, begin and end", async () => {
    store.commit("old", 3, "succeeded");
    const viewer = new Viewer(hub.watchProject("p"));
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("build")).toEqual([]);
    store.commit("new", 1);
    store.commit("short", 4, "failed");
    await clock.move(heartbeatPeriodMs);
    expect(
      viewer
        .take("build")
        .map((event) => event.data.build?.invocationId)
        .sort(),
    ).toEqual(["new", "short"]);
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("build")).toEqual([]);
    store.commit("new", 2, "succeeded");
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("build")).toMatchObject([{ data: { build: { status: "succeeded" } } }]);
    await clock.move(heartbeatPeriodMs);
    expect(viewer.take("build")).toEqual([]);
  });

  test("with a query hears of builds that fulfil it, and once of one that does not any more", async () => {
    const isRunning: Matcher = (record) => record.texts["status"]?.includes("running") ?? false;
    const viewer = new Viewer(hub.watchProject("p", isRunning));
    const everybody = new Viewer(hub.watchProject("p"));
    const seen: string[][] = [];
    for (const [sequence, status] of [
      [1, "running"],
      [2, "failed"],
      [3, "failed"],
      [4, "running"],
    ] as const) {
      store.commit(id, sequence, status);
      bus.digest(id);
      await clock.move(250);
      seen.push([...viewer.take("build"), ...viewer.take("gone")].map((event) => event.name));
      expect(everybody.take("build")).toHaveLength(1);
    }
    expect(seen).toEqual([["build"], ["gone"], [], ["build"]]);
  });

  test("begins to hear when NATS comes later", async () => {
    const late = new LiveHub({ store, clock, log: silentLog });
    const viewer = new Viewer(late.watchProject("p"));
    late.attach(bus.bus);
    store.commit(id, 1);
    bus.digest(id);
    await clock.move(250);
    expect(viewer.take("build")).toHaveLength(1);
  });
});
