/** Collections that may be large and so live in sidecars, not in the manifest. Field names are those on disk. */

export interface TargetDetail {
  readonly label: string;
  readonly success: boolean;
  readonly configuration?: string;
  readonly aspect?: string;
  /** `skipped`, `no_build` … when there is no result but an abort. */
  readonly aborted?: string;
  readonly kind?: string;
}

export type TestStatus =
  | "passed"
  | "failed"
  | "flaky"
  | "skipped"
  | "timed_out"
  | "incomplete"
  | "remote_failure"
  | "failed_to_build";

export interface TestCase {
  readonly name: string;
  readonly status: "failed" | "error" | "skipped";
  readonly duration_ms?: number;
  readonly message?: string;
}

export interface TestDetail {
  readonly label: string;
  readonly status: TestStatus;
  readonly configuration?: string;
  readonly duration_ms?: number;
  readonly attempts: number;
  readonly shards?: number;
  readonly cached?: boolean;
  readonly strategy?: string;
  readonly cases?: readonly TestCase[];
  readonly test_log_available: boolean;
  readonly test_log_unavailable_reason?: string;
}

export interface CoverageFile {
  readonly path: string;
  readonly lines_found: number;
  readonly lines_hit: number;
  readonly coverage_percent: number;
  readonly branches_found?: number;
  readonly branches_hit?: number;
  readonly functions_found?: number;
  readonly functions_hit?: number;
}

export interface Details {
  readonly targets?: readonly TargetDetail[];
  readonly tests?: readonly TestDetail[];
  readonly coverage_files?: readonly CoverageFile[];
  readonly coverage_reason?: string;
  /** Figures of BuildMetrics: what ran, what came from a cache. */
  readonly build_metrics?: Readonly<Record<string, number>>;
}

export interface Artifact {
  readonly name: string;
  readonly kind: "file" | "directory" | "test_log" | "coverage" | "remote";
  readonly uri: string;
  readonly size_bytes?: number;
  readonly locally_available: boolean;
}
