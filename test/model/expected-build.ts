import type { ExpectedSaid } from "./reduce-said.ts";

/**
 * What the rows, the log and the event list of one attempt must be, given the events that were acknowledged. Absent
 * (undefined) means that no event said it. Times are milliseconds since the epoch, durations milliseconds.
 */
export interface ExpectedBuild {
  readonly invocation: ExpectedInvocation;
  /** Sorted by key. */
  readonly targets: readonly ExpectedTarget[];
  readonly testResults: readonly ExpectedTestResult[];
  readonly testSummaries: readonly ExpectedTestSummary[];
  readonly said: ExpectedSaid;
  /** Console output as it is shown: of each progress event stderr, then stdout. */
  readonly log: Buffer;
  readonly events: readonly ExpectedEvent[];
  /** component_stream_finished is among the events. */
  readonly ended: boolean;
  /** Events that are stored raw only. */
  readonly undecodable: number;
}

export interface ExpectedEvent {
  readonly sequence: number;
  readonly timeMs: number;
  /** Name of the BEP payload, or `stream-finished`, `undecodable`, `other`, or `none` for BEP without a payload. */
  readonly kind: string;
}

/** From the exit code first; `aborted` when the stream ended without one, `running` while it has not ended. */
export type ExpectedStatus = "running" | "succeeded" | "failed" | "interrupted" | "aborted";

export interface ExpectedInvocation {
  readonly status: ExpectedStatus;
  readonly exitCode: number | undefined;
  readonly exitCodeName: string | undefined;
  readonly failureMessage: string | undefined;
  readonly command: string | undefined;
  readonly toolVersion: string | undefined;
  readonly patterns: readonly string[];
  readonly user: string | undefined;
  readonly host: string | undefined;
  readonly workspaceDirectory: string | undefined;
  readonly workingDirectory: string | undefined;
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  readonly actionsExecuted: number | undefined;
  readonly wallTimeMs: number | undefined;
  readonly cpuTimeMs: number | undefined;
  readonly counters: ExpectedCounters;
}

/** Targets without their aspects; tests by their summaries. */
export interface ExpectedCounters {
  readonly targetsTotal: number;
  readonly targetsFailed: number;
  readonly testsTotal: number;
  readonly testsPassed: number;
  readonly testsFlaky: number;
  /** Every status but passed, flaky and none. */
  readonly testsFailed: number;
}

/**
 * Ordered by how much each says: a later one replaces an earlier one of the same or a lower rank. So a real result
 * (`built`, `failed`) beats any kind of abort, whichever came first, and neither `skipped` (SKIPPED) nor `not-built`
 * (NO_BUILD, NO_ANALYZE) is a failure.
 */
export const targetRanks = ["configured", "skipped", "not-built", "aborted", "built", "failed"] as const;
export type TargetStatus = (typeof targetRanks)[number];

/** By label, aspect and configuration. */
export interface ExpectedTarget {
  readonly label: string;
  readonly aspect: string;
  readonly configuration: string;
  readonly status: TargetStatus;
  readonly targetKind: string | undefined;
  /** Number of TestSize. */
  readonly testSize: number | undefined;
  readonly tags: readonly string[];
  /** Of the failure, or the description of the abort. */
  readonly failureMessage: string | undefined;
  /** Name of the AbortReason. */
  readonly abortReason: string | undefined;
  /** Time of the event that gave the status; undefined for `configured`. */
  readonly completedAtMs: number | undefined;
}

/** By label, configuration, run, shard and attempt; the later one of a key replaces the earlier. */
export interface ExpectedTestResult {
  readonly label: string;
  readonly configuration: string;
  readonly run: number;
  readonly shard: number;
  readonly attempt: number;
  /** Number of TestStatus. */
  readonly status: number;
  readonly statusDetails: string | undefined;
  readonly startedAtMs: number | undefined;
  readonly durationMs: number | undefined;
  readonly cachedLocally: boolean;
  readonly cachedRemotely: boolean;
  readonly strategy: string | undefined;
  readonly exitCode: number | undefined;
  readonly outputs: readonly { readonly name: string; readonly uri: string }[];
}

/** By label and configuration; the later one replaces the earlier. */
export interface ExpectedTestSummary {
  readonly label: string;
  readonly configuration: string;
  readonly overallStatus: number;
  readonly totalRunCount: number;
  readonly runCount: number;
  readonly attemptCount: number;
  readonly shardCount: number;
  readonly totalNumCached: number;
  readonly firstStartAtMs: number | undefined;
  readonly lastStopAtMs: number | undefined;
  readonly totalRunDurationMs: number | undefined;
}
