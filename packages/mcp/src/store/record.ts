/** States of an invocation; the last five are final. */
export type State =
  | "queued"
  | "starting"
  | "running"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "timed_out"
  | "interrupted";

export const states: readonly State[] = [
  "queued",
  "starting",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "timed_out",
  "interrupted",
];

const next: Readonly<Record<State, readonly State[]>> = {
  queued: ["starting", "cancelled", "interrupted", "failed", "timed_out"],
  starting: ["running", "failed", "cancelled", "timed_out", "interrupted"],
  running: ["succeeded", "failed", "cancelled", "timed_out", "interrupted"],
  succeeded: [],
  failed: [],
  cancelled: [],
  timed_out: [],
  interrupted: [],
};

export function isTerminal(state: State): boolean {
  return next[state].length === 0;
}

/** No transition leaves a final state; a repeated state is a rewrite of the same record. */
export function mayBecome(from: State, to: State): boolean {
  return from === to || next[from].includes(to);
}

/** How the process ended. */
export type Termination =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "output_limit"; readonly maximum_bytes: number }
  | { readonly kind: "cancelled" }
  | { readonly kind: "spawn_failure"; readonly message: string }
  | { readonly kind: "interrupted" };

/** What was asked for, already redacted: nothing secret is kept in a manifest. Field names are those on disk. */
export interface InvocationRequest {
  readonly id: string;
  readonly workspace: string;
  readonly startup_arguments?: readonly string[];
  readonly command: string;
  readonly arguments?: readonly string[];
  readonly target?: string;
  /** Programs' own arguments are secret: only how many there were. */
  readonly program_argument_count?: number;
  readonly timeout_ms: number;
  readonly requested_at_ms: number;
}

export interface Location {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

export type Severity = "error" | "warning" | "note";
export type Category =
  | "workspace"
  | "loading"
  | "analysis"
  | "visibility"
  | "action"
  | "compilation"
  | "test"
  | "bazel"
  | "unknown";

export interface Diagnostic {
  readonly severity: Severity;
  readonly category: Category;
  readonly message: string;
  readonly location?: Location;
  readonly target?: string;
  readonly action?: string;
  readonly repetition_count?: number;
}

export interface TargetCounts {
  readonly requested: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly flaky: number;
  readonly skipped: number;
  readonly incomplete: number;
  /** Of the passed ones, those that Bazel did not run again. */
  readonly cached?: number;
}

export interface Row {
  readonly ordinal: number;
  readonly value: string;
}

export interface CoverageTotals {
  readonly lines_found: number;
  readonly lines_hit: number;
  readonly coverage_percent: number;
  readonly branches_found?: number;
  readonly branches_hit?: number;
}

export interface Summary {
  readonly headline: string;
  readonly targets: TargetCounts;
  readonly tests: TestCounts;
  readonly diagnostics?: readonly Diagnostic[];
  readonly coverage?: CoverageTotals;
  readonly query_result_count?: number;
  readonly query_sample?: readonly Row[];
  readonly elapsed_ms: number;
  readonly truncated?: boolean;
  readonly inspect_hint?: string;
}

/** The summary of an invocation that has left no evidence. */
export function emptySummary(headline: string): Summary {
  return {
    headline,
    targets: { requested: 0, succeeded: 0, failed: 0 },
    tests: { passed: 0, failed: 0, flaky: 0, skipped: 0, incomplete: 0 },
    elapsed_ms: 0,
  };
}

export type RunOutcome =
  | "build_failed"
  | "not_launched"
  | "succeeded"
  | "program_failed"
  | "cancelled_during_build"
  | "cancelled_during_program"
  | "timed_out_during_build"
  | "timed_out_during_program"
  | "output_limit_during_build"
  | "output_limit_during_program";

export interface RunResult {
  readonly target: string;
  readonly outcome: RunOutcome;
  readonly program_exit_code?: number;
  readonly output_excerpt?: readonly string[];
}

/** Counters of one invocation; absent means 0. */
export interface Metrics {
  readonly raw_output_bytes?: number;
  readonly bep_bytes?: number;
  readonly bep_events?: number;
  readonly model_visible_bytes?: number;
  readonly progress_notifications?: number;
  readonly inspect_calls?: number;
  readonly queue_ms?: number;
  readonly output_base_lock_wait_ms?: number;
  readonly bazel_wall_ms?: number;
  readonly reduction_ms?: number;
}

/** A result that a client will fetch later: protects the record until it expires. */
export interface Deferred {
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly cancellation_requested_at_ms?: number;
}

/** One invocation as its manifest holds it. */
export interface Invocation {
  readonly request: InvocationRequest;
  /** The server process that runs it; alone writes the manifest until it is final. */
  readonly owner: string;
  readonly state: State;
  readonly started_at_ms?: number;
  readonly finished_at_ms?: number;
  readonly termination?: Termination;
  readonly summary?: Summary;
  readonly run?: RunResult;
  readonly metrics?: Metrics;
  readonly canonical_arguments?: readonly string[];
  readonly cancellation_reason?: string;
  readonly deferred?: Deferred;
  /** Bytes of everything but the manifest. */
  readonly payload_bytes: number;
  readonly evidence_expired?: boolean;
}
