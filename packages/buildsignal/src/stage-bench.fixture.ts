import type { Clock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import type { StageContext, StageMessage } from "./controllers/context.ts";
import type { Build, RequestState, SignalQueue, ValidationRequest } from "./entities.ts";
import { ModelDatabase, modelStore } from "./model-store.fixture.ts";
import { type QueueConfig, signalConfigShape } from "./queue-config.ts";
import type { BuildObservation, BuildRunner, TriggerRequest } from "./runner.ts";
import type { SourceControl } from "./source-control.ts";
import { noStageMetrics, type StageMetrics } from "./stage-metrics.ts";

/** A runner and a source control that say what the test tells them, and remember what they were asked. */
export class ScriptedWorld {
  observation: BuildObservation | Error = { status: "running" };
  triggered: string | Error = "b1";
  ancestor: boolean | undefined | Error = true;
  head: string | undefined = "head";
  promotes: "promoted" | "not_found" | Error = "promoted";
  /** What happens elsewhere while the runner or the source control is being asked. */
  meanwhile: () => void = () => {};
  readonly triggers: TriggerRequest[] = [];
  readonly polls: string[] = [];
  readonly cancels: string[] = [];
  readonly promotions: string[] = [];

  readonly runner: BuildRunner = {
    trigger: async (request) => {
      this.triggers.push(request);
      this.meanwhile();
      return { buildId: orThrow(this.triggered), url: "http://builds/1" };
    },
    status: async (buildId) => {
      this.polls.push(buildId);
      this.meanwhile();
      return orThrow(this.observation);
    },
    cancel: async (buildId) => {
      this.cancels.push(buildId);
    },
  };
  readonly source: SourceControl = {
    head: async () => this.head,
    isAncestor: async () => {
      this.meanwhile();
      return orThrow(this.ancestor);
    },
    promote: async (uri) => {
      this.promotions.push(uri);
      return orThrow(this.promotes);
    },
  };
}

function orThrow<T>(value: T | Error): T {
  if (value instanceof Error) throw value;
  return value;
}

export interface StageBench {
  readonly database: ModelDatabase;
  readonly world: ScriptedWorld;
  readonly context: StageContext;
  nowMs: number;
  /** Called before each operation of the store; may throw, or change the database under the stage's feet. */
  before: (operation: string, key: string) => void;
  /** Called at each fail point. */
  reach: (name: string) => void;
  message(id: string, change?: { queue?: string; holds?: number }): StageMessage;
  putQueue(change?: Partial<SignalQueue>): SignalQueue;
  putRequest(number: number, state: RequestState, change?: Partial<ValidationRequest>): ValidationRequest;
  putBuild(change?: Partial<Build>): Build;
  request(number: number): ValidationRequest | undefined;
  readonly row: SignalQueue | undefined;
  readonly counted: string[];
}

export function queueConfig(change: Record<string, unknown> = {}): QueueConfig {
  const config = signalConfigShape.parse({ queues: { main: { runner: { kind: "fake" }, ...change } } });
  const queue = config.queues["main"];
  if (queue === undefined) throw new Error("the queue was just configured");
  return queue;
}

/** Stages on a database in memory, one atomic process, jitter at its middle. The queue is `main`. */
export function stageBench(config: Record<string, unknown> = {}): StageBench {
  const world = new ScriptedWorld();
  const counted: string[] = [];
  const database = new ModelDatabase(() => bench.nowMs);
  const clock: Clock = {
    now: () => bench.nowMs,
    monotonic: () => bench.nowMs,
    after: (_, action) => {
      queueMicrotask(action);
      return () => {};
    },
  };
  const bench: StageBench = {
    database,
    world,
    nowMs: 1_000_000,
    before: () => {},
    reach: () => {},
    context: {
      store: modelStore(database, {
        step: async (operation, key) => bench.before(operation, key),
        isAtomic: true,
      }),
      queues: new Map([
        ["main", { name: "main", config: queueConfig(config), runner: world.runner, source: world.source }],
      ]),
      clock,
      random: { bytes: (count) => new Uint8Array(count), uuid: () => "uuid", fraction: () => 0.5 },
      log: silentLog,
      metrics: countingMetrics(counted),
      points: { ...noFailPoints, reach: (name) => bench.reach(name) },
      who: "test",
    },
    message: (id, change = {}) => ({
      payload: { id, queue: change.queue ?? "main" },
      holds: change.holds ?? 0,
      signal: new AbortController().signal,
    }),
    putQueue: (change = {}) => put(database.queues, "main", { ...emptyQueue, ...change }),
    putRequest: (number, state, change = {}) => {
      const id = `request/main/${number}`;
      return put(database.requests, id, {
        ...emptyRequest,
        id,
        number,
        uri: `commit-${number}`,
        state,
        ...change,
      });
    },
    putBuild: (change = {}) => {
      const build = { ...emptyBuild, deadlineAtMs: bench.nowMs + 60_000, ...change };
      return put(database.builds, build.id, build);
    },
    request: (number) => database.requests.get(`request/main/${number}`),
    get row() {
      return database.queues.get("main");
    },
    counted,
  };
  return bench;
}

function put<E>(map: Map<string, E>, key: string, entity: E): E {
  map.set(key, entity);
  return entity;
}

export const slotOf = (owner: string, change: { expiresAtMs?: number } = {}) => ({
  owner,
  claimedAtMs: 0,
  expiresAtMs: change.expiresAtMs ?? Number.MAX_SAFE_INTEGER,
});

const emptyQueue: SignalQueue = {
  name: "main",
  project: "default",
  lastNumber: 1,
  latestRequestId: "request/main/1",
  lastGreenUri: "",
  lastGreenRequestId: "",
  slots: [],
  nextAdmissionAtMs: 0,
  version: 1,
};

const emptyRequest: Omit<ValidationRequest, "id" | "number" | "uri" | "state"> = {
  queue: "main",
  strategy: "",
  baseUri: "",
  reason: null,
  buildId: null,
  metadata: {},
  createdAtMs: 0,
  version: 1,
};

const emptyBuild: Omit<Build, "deadlineAtMs"> = {
  id: "main/b1",
  queue: "main",
  handle: "b1",
  requestId: "request/main/1",
  status: "accepted",
  reason: null,
  providerState: "",
  url: "",
  metadata: {},
  createdAtMs: 0,
  version: 1,
};

function countingMetrics(counted: string[]): StageMetrics {
  return {
    ...noStageMetrics,
    ended: ({ state, reason }) => counted.push(`ended ${state} ${reason ?? ""}`.trimEnd()),
    unknownStatus: () => counted.push("unknown"),
    cancelled: (_, { cause, reached }) => counted.push(`cancelled ${cause} ${reached}`),
    recordAbandoned: () => counted.push("abandoned"),
    detected: (_, afterMs) => counted.push(`detected ${afterMs}`),
    promotionMissed: () => counted.push("promotion missed"),
  };
}
