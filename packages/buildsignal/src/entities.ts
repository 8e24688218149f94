import type { TerminalStatus } from "./runner.ts";

/** The states of a request. All but the first two are terminal. */
export type RequestState = "accepted" | "processing" | "superseded" | "succeeded" | "failed" | "cancelled";
export type Strategy = "" | "incremental_since_green" | "full";

/** A commit that a queue validates. */
export interface ValidationRequest {
  /** `request/<queue>/<number>`. */
  readonly id: string;
  readonly queue: string;
  readonly number: number;
  readonly uri: string;
  readonly strategy: Strategy;
  /** The last green commit of an incremental build; empty otherwise. */
  readonly baseUri: string;
  readonly state: RequestState;
  /** Why it ended without a verdict of a build; null beside `succeeded` and `failed`: the build's own verdict. */
  readonly reason: string | null;
  readonly buildId: string | null;
  /** Handed to the runner, not interpreted. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly version: number;
}

/** `unknown` of a runner is never stored. */
export type StoredBuildStatus = "accepted" | "running" | TerminalStatus;

/** A build that a runner runs for a request. A terminal status is written once and never changes. */
export interface Build {
  /** `<queue>/<handle>`: two runners may give the same handle. */
  readonly id: string;
  readonly queue: string;
  /** The runner's own id. */
  readonly handle: string;
  readonly requestId: string;
  readonly status: StoredBuildStatus;
  /** Beside a terminal status: why it is no verdict about the commit. */
  readonly reason: string | null;
  readonly providerState: string;
  readonly url: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly version: number;
}

/** Who holds a slot. An expired one is given up by the next who waits, unless its request is being validated. */
export interface Slot {
  readonly owner: string;
  readonly claimedAtMs: number;
  readonly expiresAtMs: number;
}

export interface SignalQueue {
  readonly name: string;
  readonly project: string;
  readonly lastNumber: number;
  readonly latestRequestId: string;
  readonly lastGreenUri: string;
  readonly lastGreenRequestId: string;
  readonly slots: readonly Slot[];
  /** No request is admitted before; 0: at once. */
  readonly nextAdmissionAtMs: number;
  readonly version: number;
}

/** Which request stands for a commit. */
export interface RequestUri {
  readonly queue: string;
  readonly uri: string;
  readonly requestId: string;
  readonly version: number;
}

/** What a build found out about a commit; part "" is the whole repository. Degree 0: green, 1: broken. */
export interface ValidationFact {
  readonly queue: string;
  readonly uri: string;
  readonly part: string;
  readonly degree: 0 | 1;
  readonly requestId: string;
  readonly createdAtMs: number;
}

/** A change of a request's state. */
export interface RequestLogEntry {
  readonly requestId: string;
  readonly queue: string;
  readonly atMs: number;
  /** The stage that made it, such as `process` or `buildsignal_dlq`. */
  readonly who: string;
  readonly from: RequestState | "";
  readonly to: RequestState;
  readonly reason: string | null;
  readonly buildId: string | null;
}

/** The entity with changes and the next version, to be stored against the version that was read. */
export function changed<E extends { readonly version: number }>(entity: E, changes: Partial<E>): E {
  return { ...entity, ...changes, version: entity.version + 1 };
}

export function isTerminalState(state: RequestState): boolean {
  return state !== "accepted" && state !== "processing";
}

/** True for a state that came from an outcome; a superseded request never had a build. */
export function hasOutcome(state: RequestState): boolean {
  return state === "succeeded" || state === "failed" || state === "cancelled";
}

/** True when a build of its own said whether the commit is good. Only then there is a fact. */
export function hasVerdict(request: ValidationRequest): boolean {
  return request.reason === null && (request.state === "succeeded" || request.state === "failed");
}

export function buildIdOf(queue: string, handle: string): string {
  return `${queue}/${handle}`;
}
