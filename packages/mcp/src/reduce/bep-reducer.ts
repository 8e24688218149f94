import { readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField, payloadField, readKind } from "@millrace/proto/bep/kind";
import { scanPayload } from "@millrace/proto/bep/payload";
import { readAborted } from "@millrace/proto/bep/readers/aborted";
import { readActionExecuted } from "@millrace/proto/bep/readers/action";
import { readOptionsParsed } from "@millrace/proto/bep/readers/command-line";
import { readBuildToolLogs } from "@millrace/proto/bep/readers/files";
import { readFinished } from "@millrace/proto/bep/readers/finished";
import { readMetrics } from "@millrace/proto/bep/readers/metrics";
import { readStarted } from "@millrace/proto/bep/readers/started";
import { readTargetComplete } from "@millrace/proto/bep/readers/target";
import { readTestResult } from "@millrace/proto/bep/readers/test-result";
import { readTestSummary } from "@millrace/proto/bep/readers/test-summary";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { BuildState } from "./build-state.ts";
import { readTargetOutputs } from "./file-graph.ts";
import type { Reduced } from "./reduced.ts";

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
  private build = new BuildState();

  /** Takes in one `build_event_stream.BuildEvent`. Nothing of `bytes` is kept. */
  accept(bytes: Uint8Array): void {
    this.events += 1;
    const event = readKind({ bytes, from: 0, to: bytes.length });
    if (event.kind === "malformed") {
      this.unreadable += 1;
      return;
    }
    if (event.lastMessage) this.build.isComplete = true;
    if (wanted.has(event.payload)) this.take(event);
  }

  private take(event: BepEvent): void {
    switch (event.payload) {
      case payloadField.started:
        return this.takeStarted(event);
      case payloadField.optionsParsed:
        return this.takeOptions(event);
      case payloadField.expanded:
        if (event.id === idField.pattern) this.build.requested += event.childCount;
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
        if (!isMalformed(id)) this.build.graph.add(id.name, event);
        return;
      }
      default:
        return this.takeEnd(event);
    }
  }

  private takeStarted(event: BepEvent): void {
    const started = this.read(readStarted(event));
    if (started === undefined) return;
    if (this.build.started !== undefined) this.build = new BuildState();
    this.build.started = started;
  }

  private takeOptions(event: BepEvent): void {
    const options = this.read(readOptionsParsed(event));
    if (options !== undefined) this.build.options ??= [...options.startupOptions, ...options.cmdLine];
  }

  private takeAborted(event: BepEvent): void {
    const aborted = this.read(readAborted(event));
    const id = this.read(readEventId(event));
    if (aborted === undefined || id === undefined) return;
    // Bazel 8 and later abort the announced target before it has a configuration.
    if (event.id === idField.targetCompleted || event.id === idField.targetConfigured) {
      this.build.targets.abort(id, aborted.reason);
    }
    const label = id.label !== "" ? id.label : id.patterns.join(" ");
    this.build.failures.addAbort({ reason: aborted.reason, label, description: aborted.description });
  }

  private takeAction(event: BepEvent): void {
    const action = this.read(readActionExecuted(event));
    if (action === undefined || action.success) return;
    this.build.failures.addAction({
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
    const target = this.build.targets.at(id);
    if (target === undefined) return;
    target.aborted = "";
    target.success = completed.success;
    target.failureMessage = completed.failureMessage;
    target.outputs = readTargetOutputs(event);
  }

  private takeTestSummary(event: BepEvent): void {
    const summary = this.read(readTestSummary(event));
    const id = this.read(readEventId(event));
    if (summary !== undefined && id !== undefined) this.build.tests.addSummary(id, summary);
  }

  private takeTestResult(event: BepEvent): void {
    const result = this.read(readTestResult(event));
    const id = this.read(readEventId(event));
    if (result !== undefined && id !== undefined) this.build.tests.addAttempt(id, result);
  }

  private takeEnd(event: BepEvent): void {
    const { build } = this;
    if (event.payload === payloadField.finished) build.finished = this.read(readFinished(event));
    else if (event.payload === payloadField.buildMetrics) build.metrics = this.read(readMetrics(event));
    else if (event.payload === payloadField.buildToolLogs) {
      build.toolLogs = this.read(readBuildToolLogs(event)) ?? [];
    } else if (event.payload === payloadField.execRequest) build.shouldExec = readShouldExec(event);
    else if (event.payload === payloadField.workspaceInfo) build.execRoot = readExecRoot(event);
  }

  private read<T extends object>(value: T): Exclude<T, { kind: "malformed" }> | undefined {
    if (!isMalformed(value)) return value as Exclude<T, { kind: "malformed" }>;
    this.unreadable += 1;
    return undefined;
  }

  /** What is known now. Call it as often as needed; it does not end the reduction. */
  reduced(): Reduced {
    return this.build.reduced(this.events);
  }
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
