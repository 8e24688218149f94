import { type Latch, latch } from "@millrace/base/latch";
import {
  type ILifecycleCall,
  type ILifecycleReply,
  type ILifecycleRequest,
  LifecycleKind,
} from "@millrace/proto/pipeline";

/** What is known of a build or of one of its invocations from lifecycle calls. Times are ms since the epoch. */
export interface LifecycleState {
  readonly project: string;
  readonly buildId: string;
  /** "" for what concerns the build as a whole. */
  readonly invocationId: string;
  readonly component: number;
  readonly lastSequence: number;
  readonly attemptNumber: number;
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  readonly result: number | undefined;
}

export interface LifecycleStore {
  /** Merges each state into its row; one state a row. */
  merge(states: readonly LifecycleState[]): Promise<void>;
}

const startKinds: ReadonlySet<unknown> = new Set([
  LifecycleKind.BUILD_ENQUEUED,
  LifecycleKind.INVOCATION_ATTEMPT_STARTED,
]);
const finishKinds: ReadonlySet<unknown> = new Set([
  LifecycleKind.INVOCATION_ATTEMPT_FINISHED,
  LifecycleKind.BUILD_FINISHED,
]);

/** The state that one call tells of. */
export function readLifecycle(call: ILifecycleCall): LifecycleState {
  const time = call.eventTimeMs ?? 0;
  const isFinish = finishKinds.has(call.kind);
  return {
    project: call.project ?? "",
    buildId: call.buildId ?? "",
    invocationId: call.invocationId ?? "",
    component: call.component ?? 0,
    lastSequence: call.sequence ?? 0,
    attemptNumber: call.attemptNumber ?? 0,
    startedAtMs: startKinds.has(call.kind) ? time : undefined,
    finishedAtMs: isFinish ? time : undefined,
    result: isFinish ? (call.result ?? 0) : undefined,
  };
}

/**
 * Merges what two calls tell of one row. Neither order nor repeats matter: the earliest start, the latest finish
 * and its result. The upsert follows the same law.
 */
export function mergeLifecycle(a: LifecycleState, b: LifecycleState): LifecycleState {
  const later = (a.finishedAtMs ?? -1) >= (b.finishedAtMs ?? -1) ? a : b;
  const starts = [a.startedAtMs, b.startedAtMs].filter((time) => time !== undefined);
  return {
    ...a,
    lastSequence: Math.max(a.lastSequence, b.lastSequence),
    attemptNumber: Math.max(a.attemptNumber, b.attemptNumber),
    startedAtMs: starts.length > 0 ? Math.min(...starts) : undefined,
    finishedAtMs: later.finishedAtMs,
    result: later.result,
  };
}

/**
 * Lifecycle calls, merged into groups as batches are: what arrives while one transaction is on its way joins the
 * next. A group that fails answers nobody; the front door then answers for itself and counts it.
 */
export class LifecycleInbox {
  readonly #store: LifecycleStore;
  #waiting: { states: readonly LifecycleState[]; done: Latch<ILifecycleReply> }[] = [];
  #isCommitting = false;

  constructor(store: LifecycleStore) {
    this.#store = store;
  }

  /** Resolves once all its calls are stored. */
  offer(request: ILifecycleRequest): Promise<ILifecycleReply> {
    const done = latch<ILifecycleReply>();
    this.#waiting.push({ states: (request.calls ?? []).map(readLifecycle), done });
    void this.#commitWaiting();
    return done.promise;
  }

  async #commitWaiting(): Promise<void> {
    if (this.#isCommitting) return;
    this.#isCommitting = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#store.merge(mergeByRow(group.flatMap(({ states }) => states)));
        for (const { done } of group) done.open({});
      } catch (error) {
        for (const { done } of group) done.fail(error);
      }
    }
    this.#isCommitting = false;
  }
}

function mergeByRow(states: readonly LifecycleState[]): LifecycleState[] {
  const merged = new Map<string, LifecycleState>();
  for (const state of states) {
    const { project, buildId, invocationId, component } = state;
    const row = [project, buildId, invocationId, component].join("\u0000");
    const earlier = merged.get(row);
    merged.set(row, earlier === undefined ? state : mergeLifecycle(earlier, state));
  }
  return [...merged.values()];
}
