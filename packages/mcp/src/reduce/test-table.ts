import { testStatus } from "@millrace/proto/bep/enums";
import type { EventId } from "@millrace/proto/bep/event-id";
import type { FileReference } from "@millrace/proto/bep/payload";
import type { TestResult } from "@millrace/proto/bep/readers/test-result";
import type { TestSummary } from "@millrace/proto/bep/readers/test-summary";
import type { TestStatus } from "../store/details.ts";

/** One attempt of one shard of one run. */
export interface TestAttempt {
  readonly run: number;
  readonly shard: number;
  readonly attempt: number;
  readonly status: TestStatus;
  readonly outputs: readonly FileReference[];
}

/** A test in one configuration, as its summary and attempts tell it. */
export interface TestRecord {
  readonly label: string;
  readonly configuration: string;
  status: TestStatus;
  /** Whether a summary came; without one the worst attempt decides. */
  summarised: boolean;
  durationMs: number;
  attempts: number;
  shards: number;
  cachedAttempts: number;
  strategy: string;
  statusDetails: string;
  /** Attempts that did not pass, and the last one of each shard that did. */
  readonly kept: TestAttempt[];
}

const keptAttemptsMax = 100;

const names: Readonly<Record<number, TestStatus>> = {
  [testStatus.noStatus]: "incomplete",
  [testStatus.passed]: "passed",
  [testStatus.flaky]: "flaky",
  [testStatus.timeout]: "timed_out",
  [testStatus.failed]: "failed",
  [testStatus.incomplete]: "incomplete",
  [testStatus.remoteFailure]: "remote_failure",
  [testStatus.failedToBuild]: "failed_to_build",
  [testStatus.toolHaltedBeforeTesting]: "incomplete",
};

// Worst first; what decides when attempts disagree and no summary came.
const order: readonly TestStatus[] = [
  "failed",
  "timed_out",
  "remote_failure",
  "failed_to_build",
  "incomplete",
  "flaky",
  "passed",
  "skipped",
];

/** The status with this number; one newer than we are counts as incomplete, never as passed. */
function testStatusName(status: number): TestStatus {
  return names[status] ?? "incomplete";
}

/** Tests of an invocation by label and configuration. A failure in one configuration is not hidden by another's success. */
export class TestTable {
  private readonly tests = new Map<string, TestRecord>();
  private readonly countMax: number;
  /** A test found no room. */
  isTruncated = false;

  constructor(countMax: number) {
    this.countMax = countMax;
  }

  all(): IterableIterator<TestRecord> {
    return this.tests.values();
  }

  /** The record of a test, made when it is new and there is room. */
  at(id: EventId): TestRecord | undefined {
    const key = `${id.label}\u0000${id.configuration}`;
    const known = this.tests.get(key);
    if (known !== undefined) return known;
    if (this.tests.size >= this.countMax) {
      this.isTruncated = true;
      return undefined;
    }
    const made: TestRecord = {
      ...{ label: id.label, configuration: id.configuration, status: "passed", summarised: false },
      ...{ durationMs: 0, attempts: 0, shards: 0, cachedAttempts: 0, strategy: "", statusDetails: "" },
      kept: [],
    };
    this.tests.set(key, made);
    return made;
  }

  addSummary(id: EventId, summary: TestSummary): void {
    const test = this.at(id);
    if (test !== undefined) applySummary(test, summary);
  }

  addAttempt(id: EventId, result: TestResult): void {
    const test = this.at(id);
    if (test === undefined) return;
    const status = testStatusName(result.status);
    test.attempts += 1;
    test.shards = Math.max(test.shards, id.shard);
    if (result.cachedLocally || result.cachedRemotely) test.cachedAttempts += 1;
    if (result.strategy !== "") test.strategy = result.strategy;
    if (result.statusDetails !== "") test.statusDetails = result.statusDetails;
    if (!test.summarised) {
      test.durationMs += result.durationMs ?? 0;
      const isFlaky = status === "passed" && test.kept.some((one) => one.shard === id.shard && !ok(one));
      if (isFlaky) test.status = "flaky";
      else if (worse(status, test.status)) test.status = status;
    }
    if (test.kept.length < keptAttemptsMax) {
      test.kept.push({ ...pick(id), status, outputs: result.outputs });
    }
  }
}

/** Whether a summary came decides; its words replace what the attempts had said. */
function applySummary(test: TestRecord, summary: TestSummary): void {
  test.status = testStatusName(summary.overallStatus);
  test.summarised = true;
  test.durationMs = summary.totalRunDurationMs ?? test.durationMs;
  test.attempts = Math.max(test.attempts, summary.totalRunCount);
  test.shards = Math.max(test.shards, summary.shardCount);
}

function pick(id: EventId): { run: number; shard: number; attempt: number } {
  return { run: id.run, shard: id.shard, attempt: id.attempt };
}

function ok(attempt: TestAttempt): boolean {
  return attempt.status === "passed";
}

function worse(one: TestStatus, other: TestStatus): boolean {
  return order.indexOf(one) < order.indexOf(other);
}
