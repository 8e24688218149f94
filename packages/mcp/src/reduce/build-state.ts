import type { FileReference } from "@millrace/proto/bep/payload";
import type { Finished } from "@millrace/proto/bep/readers/finished";
import type { Metrics } from "@millrace/proto/bep/readers/metrics";
import type { Started } from "@millrace/proto/bep/readers/started";
import { Failures } from "./failures.ts";
import { FileGraph, type OutputFile } from "./file-graph.ts";
import type { Reduced, TargetRecord } from "./reduced.ts";
import { TargetTable } from "./target-table.ts";
import { TestTable } from "./test-table.ts";

const itemsMax = 250_000;

/** All that is kept of one build. A build that starts over in the same stream gets a new one. */
export class BuildState {
  readonly targets = new TargetTable(itemsMax);
  readonly tests = new TestTable(itemsMax);
  readonly failures = new Failures();
  readonly graph = new FileGraph();
  started: Started | undefined;
  options: readonly string[] | undefined;
  requested = 0;
  metrics: Metrics | undefined;
  finished: Finished | undefined;
  shouldExec: boolean | undefined;
  toolLogs: readonly FileReference[] = [];
  execRoot = "";
  isComplete = false;

  /** What is known now, after `events` events. */
  reduced(events: number): Reduced {
    const { graph, failures, finished } = this;
    return {
      events,
      startedAtMs: this.started?.startedAtMs,
      workspaceDirectory: this.started?.workspaceDirectory ?? "",
      canonicalArguments: this.options,
      requestedTargets: this.requested,
      targets: [...this.targets.all()],
      tests: [...this.tests.all()],
      failedActions: failures.actions,
      failedActionCount: failures.actionCount,
      aborts: failures.aborts,
      abortCounts: failures.abortCounts,
      metrics: this.metrics,
      exitCode: finished?.exitCode,
      exitCodeName: finished?.exitCodeName ?? "",
      overallSuccess: finished?.overallSuccess,
      failureMessage: finished?.failureMessage ?? "",
      shouldExec: this.shouldExec,
      isComplete: this.isComplete,
      isTruncated: this.targets.isTruncated || this.tests.isTruncated || graph.isIncomplete,
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
