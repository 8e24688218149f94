import type { FileReference } from "@millrace/proto/bep/payload";
import type { Metrics } from "@millrace/proto/bep/readers/metrics";
import type { OutputFile, TargetOutputs } from "./file-graph.ts";
import type { TestRecord } from "./test-table.ts";

/** A target in one configuration under one aspect. */
export interface TargetRecord {
  readonly label: string;
  readonly configuration: string;
  readonly aspect: string;
  success: boolean;
  /** Name of the abort reason when there is no result. */
  aborted: string;
  failureMessage: string;
  outputs: TargetOutputs | undefined;
}

/** An action that failed. */
export interface FailedAction {
  readonly label: string;
  readonly mnemonic: string;
  readonly exitCode: number;
  readonly primaryOutput: string;
  readonly failureMessage: string;
  readonly stdout: FileReference | undefined;
  readonly stderr: FileReference | undefined;
}

/** An abort with a reason of its own; those that only follow from others are counted by reason. */
export interface AbortRecord {
  readonly reason: number;
  readonly label: string;
  readonly description: string;
}

/** What a stream of build events says, as far as it came. */
export interface Reduced {
  readonly events: number;
  readonly startedAtMs: number | undefined;
  readonly workspaceDirectory: string;
  readonly canonicalArguments: readonly string[] | undefined;
  /** Targets that the patterns named. 0 when no pattern was expanded. */
  readonly requestedTargets: number;
  readonly targets: readonly TargetRecord[];
  readonly tests: readonly TestRecord[];
  readonly failedActions: readonly FailedAction[];
  readonly failedActionCount: number;
  readonly aborts: readonly AbortRecord[];
  readonly abortCounts: ReadonlyMap<number, number>;
  readonly metrics: Metrics | undefined;
  readonly exitCode: number | undefined;
  readonly exitCodeName: string;
  readonly overallSuccess: boolean | undefined;
  readonly failureMessage: string;
  /** For `bazel run`: whether the program is to be started. */
  readonly shouldExec: boolean | undefined;
  /** The last message was seen: nothing is missing. */
  readonly isComplete: boolean;
  /** Something was dropped because a bound was reached. */
  readonly isTruncated: boolean;
  readonly toolLogs: readonly FileReference[];
  /** Where actions ran, `<output base>/execroot/<workspace>`; "" when Bazel did not say. */
  readonly execRoot: string;
  filesOf(target: TargetRecord): Iterable<OutputFile>;
}
