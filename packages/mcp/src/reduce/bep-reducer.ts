import { abortReason, protocolName } from "@millrace/proto/bep/enums";
import { type EventId, readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField, payloadField, readKind } from "@millrace/proto/bep/kind";
import { type FileReference, scanPayload } from "@millrace/proto/bep/payload";
import { readAborted } from "@millrace/proto/bep/readers/aborted";
import { readActionExecuted } from "@millrace/proto/bep/readers/action";
import { readOptionsParsed } from "@millrace/proto/bep/readers/command-line";
import { readBuildToolLogs } from "@millrace/proto/bep/readers/files";
import { type Finished, readFinished } from "@millrace/proto/bep/readers/finished";
import { type Metrics, readMetrics } from "@millrace/proto/bep/readers/metrics";
import { readStarted, type Started } from "@millrace/proto/bep/readers/started";
import { readTargetComplete } from "@millrace/proto/bep/readers/target";
import { readTestResult } from "@millrace/proto/bep/readers/test-result";
import { readTestSummary } from "@millrace/proto/bep/readers/test-summary";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { FileGraph, type OutputFile, readTargetOutputs } from "./file-graph.ts";
import type { AbortRecord, FailedAction, Reduced, TargetRecord } from "./reduced.ts";
import { TestTable, testStatusName } from "./test-table.ts";

const itemsMax = 250_000;
const failedActionsMax = 500;
const abortsMax = 500;

/** Reasons that only follow from another failure or from what was asked for; they are counted, not listed. */
const consequences = new Set<number>([
  abortReason.skipped,
  abortReason.noAnalyze,
  abortReason.noBuild,
  abortReason.incomplete,
]);

const wanted = new Set<number>([
  payloadField.started,
  payloadField.aborted,
  payloadField.optionsParsed,
  payloadField.expanded,
  payloadField.action,
  payloadField.completed,
  payloadField.testSummary,
  payloadField.testResult,
  payloadField.finished,
  payloadField.namedSetOfFiles,
  payloadField.buildToolLogs,
  payloadField.buildMetrics,
  payloadField.execRequest,
  payloadField.workspaceInfo,
]);

/**
 * Keeps what answers need of a build event stream. The state is bounded, not the stream: after any number of events
 * the end (summaries, exit code) still counts. Events may come in any order; an event that cannot be read is counted
 * and passed over. Bazel may start the build over within one stream (exit 39, an evicted cache): then the new one
 * counts alone.
 */
export class BepReducer {
  events = 0;
  unreadable = 0;
  private started: Started | undefined;
  private options: readonly string[] | undefined;
  private requested = 0;
  private targets = new Map<string, TargetRecord>();
  private readonly tests = new TestTable();
  private failedActions: FailedAction[] = [];
  private failedActionCount = 0;
  private aborts: AbortRecord[] = [];
  private abortCounts = new Map<number, number>();
  private graph = new FileGraph();
  private metrics: Metrics | undefined;
  private finished: Finished | undefined;
  private shouldExec: boolean | undefined;
  private toolLogs: readonly FileReference[] = [];
  private execRoot = "";
  private isComplete = false;
  private isTruncated = false;

  /** Takes in one `build_event_stream.BuildEvent`. Nothing of `bytes` is kept. */
  accept(bytes: Uint8Array): void {
    this.events += 1;
    const event = readKind({ bytes, from: 0, to: bytes.length });
    if (event.kind === "malformed") {
      this.unreadable += 1;
      return;
    }
    if (event.lastMessage) this.isComplete = true;
    if (wanted.has(event.payload)) this.take(event);
  }

  private take(event: BepEvent): void {
    switch (event.payload) {
      case payloadField.started:
        return this.takeStarted(event);
      case payloadField.optionsParsed:
        return this.takeOptions(event);
      case payloadField.expanded:
        if (event.id === idField.pattern) this.requested += event.childCount;
        return;
      case payloadField.aborted:
        return this.takeAborted(event);
      case payloadField.action:
        return this.takeAction(event);
      case payloadField.completed:
        return this.takeCompleted(event);
      case payloadField.testSummary:
        return this.takeTestSummary(event);
      case payloadField.testResult:
        return this.takeTestResult(event);
      case payloadField.namedSetOfFiles: {
        const id = readEventId(event);
        if (!isMalformed(id)) this.graph.add(id.name, event);
        return;
      }
      default:
        return this.takeEnd(event);
    }
  }

  private takeStarted(event: BepEvent): void {
    const started = this.read(readStarted(event));
    if (started === undefined) return;
    if (this.started !== undefined) this.startOver();
    this.started = started;
  }

  private startOver(): void {
    this.options = undefined;
    this.requested = 0;
    this.targets = new Map();
    this.tests.clear();
    this.failedActions = [];
    this.failedActionCount = 0;
    this.aborts = [];
    this.abortCounts = new Map();
    this.graph = new FileGraph();
    this.metrics = undefined;
    this.finished = undefined;
    this.shouldExec = undefined;
    this.isComplete = false;
  }

  private takeOptions(event: BepEvent): void {
    const options = this.read(readOptionsParsed(event));
    if (options === undefined || this.options !== undefined) return;
    this.options = [...options.startupOptions, ...options.cmdLine];
  }

  private takeAborted(event: BepEvent): void {
    const aborted = this.read(readAborted(event));
    const id = this.read(readEventId(event));
    if (aborted === undefined || id === undefined) return;
    this.abortCounts.set(aborted.reason, (this.abortCounts.get(aborted.reason) ?? 0) + 1);
    // Bazel 8 and later abort the announced target before it has a configuration.
    if (event.id === idField.targetCompleted || event.id === idField.targetConfigured) {
      const target = this.target(id);
      if (target !== undefined && target.aborted === "") {
        target.aborted = protocolName(abortReason, aborted.reason).toLowerCase();
      }
    }
    if (consequences.has(aborted.reason) || this.aborts.length >= abortsMax) return;
    const label = id.label !== "" ? id.label : id.patterns.join(" ");
    this.aborts.push({ reason: aborted.reason, label, description: aborted.description });
  }

  private takeAction(event: BepEvent): void {
    const action = this.read(readActionExecuted(event));
    if (action === undefined || action.success) return;
    this.failedActionCount += 1;
    if (this.failedActions.length >= failedActionsMax) return;
    this.failedActions.push({
      label: action.label,
      mnemonic: action.type,
      exitCode: action.exitCode,
      primaryOutput: action.primaryOutput,
      failureMessage: action.failureMessage,
      stdout: action.stdout,
      stderr: action.stderr,
    });
  }

  private takeCompleted(event: BepEvent): void {
    const completed = this.read(readTargetComplete(event));
    const id = this.read(readEventId(event));
    if (completed === undefined || id === undefined) return;
    const target = this.target(id);
    if (target === undefined) return;
    target.aborted = "";
    target.success = completed.success;
    target.failureMessage = completed.failureMessage;
    target.outputs = readTargetOutputs(event);
  }

  /** The record of a target, made when it is new and there is room. */
  private target(id: EventId): TargetRecord | undefined {
    const key = `${id.label}\u0000${id.configuration}\u0000${id.aspect}`;
    const known = this.targets.get(key);
    if (known !== undefined) return known;
    if (this.targets.size >= itemsMax) {
      this.isTruncated = true;
      return undefined;
    }
    const { label, configuration, aspect } = id;
    const made: TargetRecord = {
      ...{ label, configuration, aspect, success: false },
      ...{ aborted: "", failureMessage: "", outputs: undefined },
    };
    this.targets.set(key, made);
    return made;
  }

  private takeTestSummary(event: BepEvent): void {
    const summary = this.read(readTestSummary(event));
    const id = this.read(readEventId(event));
    if (summary === undefined || id === undefined || !this.hasRoomForTest()) return;
    const test = this.tests.at(id);
    test.status = testStatusName(summary.overallStatus);
    test.summarised = true;
    test.durationMs = summary.totalRunDurationMs ?? test.durationMs;
    test.attempts = Math.max(test.attempts, summary.totalRunCount);
    test.shards = Math.max(test.shards, summary.shardCount);
  }

  private takeTestResult(event: BepEvent): void {
    const result = this.read(readTestResult(event));
    const id = this.read(readEventId(event));
    if (result !== undefined && id !== undefined && this.hasRoomForTest()) this.tests.addAttempt(id, result);
  }

  private hasRoomForTest(): boolean {
    if (this.tests.size < itemsMax) return true;
    this.isTruncated = true;
    return false;
  }

  private takeEnd(event: BepEvent): void {
    if (event.payload === payloadField.finished) this.finished = this.read(readFinished(event));
    else if (event.payload === payloadField.buildMetrics) this.metrics = this.read(readMetrics(event));
    else if (event.payload === payloadField.buildToolLogs) {
      this.toolLogs = this.read(readBuildToolLogs(event)) ?? [];
    } else if (event.payload === payloadField.execRequest) this.shouldExec = readShouldExec(event);
    else if (event.payload === payloadField.workspaceInfo) this.execRoot = readExecRoot(event);
  }

  private read<T extends object>(value: T): Exclude<T, { kind: "malformed" }> | undefined {
    if (!isMalformed(value)) return value as Exclude<T, { kind: "malformed" }>;
    this.unreadable += 1;
    return undefined;
  }

  /** What is known now. Call it as often as needed; it does not end the reduction. */
  reduced(): Reduced {
    const graph = this.graph;
    return {
      events: this.events,
      startedAtMs: this.started?.startedAtMs,
      workspaceDirectory: this.started?.workspaceDirectory ?? "",
      canonicalArguments: this.options,
      requestedTargets: this.requested,
      targets: [...this.targets.values()],
      tests: [...this.tests.all()],
      failedActions: this.failedActions,
      failedActionCount: this.failedActionCount,
      aborts: this.aborts,
      abortCounts: this.abortCounts,
      metrics: this.metrics,
      exitCode: this.finished?.exitCode,
      exitCodeName: this.finished?.exitCodeName ?? "",
      overallSuccess: this.finished?.overallSuccess,
      failureMessage: this.finished?.failureMessage ?? "",
      shouldExec: this.shouldExec,
      isComplete: this.isComplete,
      isTruncated: this.isTruncated || graph.isIncomplete,
      toolLogs: this.toolLogs,
      execRoot: this.execRoot,
      filesOf: (target) => filesOf(graph, target),
    };
  }
}

function* filesOf(graph: FileGraph, target: TargetRecord): Generator<OutputFile> {
  if (target.outputs === undefined) return;
  yield* target.outputs.files;
  yield* graph.files(target.outputs.sets);
}

// build_event_stream.ExecRequestConstructed
const shouldExecField = 5;

function readShouldExec(event: BepEvent): boolean {
  let shouldExec = false;
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isVarint(shouldExecField)) shouldExec = scanner.bool;
  return shouldExec;
}

// build_event_stream.WorkspaceConfig
const localExecRootField = 1;

function readExecRoot(event: BepEvent): string {
  let execRoot = "";
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(localExecRootField)) execRoot = scanner.text;
  return execRoot;
}
