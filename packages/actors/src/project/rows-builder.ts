import type {
  IActionRow,
  IConfigurationRow,
  IDetailsRow,
  IFetchRow,
  IInvocationPatch,
  IMetricsRow,
  IProblemRow,
  IRows,
  ITargetRow,
  ITestProgressRow,
  ITestResultRow,
  ITestSummaryRow,
} from "@millrace/proto/pipeline";
import { NamedSetPacker } from "./named-set-packer.ts";

/** Row deltas of the events of one batch. The writer merges what has the same key; order is the events' order. */
export class RowsBuilder {
  /** Sequence number of the event whose rows are added: the key of rows that have no other. */
  sequence: number;
  private rows: Collected = nothingCollected();
  private actionCounts = new Map<string, { succeeded: number; failed: number; durationMs: number }>();
  private unknowns = new Map<string, number>();
  private readonly namedSets = new NamedSetPacker();

  constructor(sequence = 1) {
    this.sequence = sequence;
  }

  /** Fields that are present win over earlier ones of the batch. */
  patchInvocation(patch: IInvocationPatch): void {
    this.rows.invocation = joined(this.rows.invocation, patch);
  }

  patchDetails(patch: IDetailsRow): void {
    this.rows.details = joined(this.rows.details, patch);
  }

  patchMetrics(patch: IMetricsRow): void {
    this.rows.metrics = joined(this.rows.metrics, patch);
  }

  addTarget(row: ITargetRow): void {
    this.rows.targets.push(row);
  }

  addTestResult(row: ITestResultRow): void {
    this.rows.testResults.push(row);
  }

  addTestSummary(row: ITestSummaryRow): void {
    this.rows.testSummaries.push(row);
  }

  addTestProgress(row: ITestProgressRow): void {
    this.rows.testProgress.push(row);
  }

  addConfiguration(row: IConfigurationRow): void {
    this.rows.configurations.push(row);
  }

  /** The sequence numbers of these rows are filled in. */
  addAction(row: IActionRow): void {
    this.rows.actions.push({ sequence: this.sequence, ...row });
  }

  addProblem(row: IProblemRow): void {
    this.rows.problems.push({ sequence: this.sequence, ...row });
  }

  addFetch(row: IFetchRow): void {
    this.rows.fetches.push({ sequence: this.sequence, ...row });
  }

  countAction(action: { mnemonic: string; success: boolean; durationMs: number }): void {
    const { mnemonic, success, durationMs } = action;
    const counts = this.actionCounts.get(mnemonic) ?? { succeeded: 0, failed: 0, durationMs: 0 };
    if (success) counts.succeeded += 1;
    else counts.failed += 1;
    counts.durationMs += durationMs;
    this.actionCounts.set(mnemonic, counts);
  }

  countUnknown(what: string): void {
    this.unknowns.set(what, (this.unknowns.get(what) ?? 0) + 1);
  }

  /** Keeps the outputs of the target that the event is about; answers what its row has of them. */
  keepOutputs(outputs: Uint8Array): number {
    this.namedSets.addOutputs(this.sequence, outputs);
    return this.sequence;
  }

  /** Packs named sets of files, which have no rows of their own. */
  get sets(): NamedSetPacker {
    return this.namedSets;
  }

  /** What has come together since the last call. The data of named sets are not compressed yet. */
  take(): IRows {
    const rows: IRows = {
      ...this.rows,
      actionCounts: [...this.actionCounts].map(([mnemonic, counts]) => ({ mnemonic, ...counts })),
      unknowns: [...this.unknowns].map(([what, events]) => ({ what, events })),
      namedSets: this.namedSets.take(),
    };
    this.rows = nothingCollected();
    this.actionCounts = new Map();
    this.unknowns = new Map();
    return rows;
  }

  /** Labels of the targets and tests that have rows here, each once. */
  changedLabels(): string[] {
    const labels = new Set<string>();
    const { targets, testResults, testSummaries } = this.rows;
    for (const list of [targets, testResults, testSummaries])
      for (const row of list) labels.add(row.label ?? "");
    return [...labels];
  }
}

interface Collected {
  invocation?: IInvocationPatch;
  details?: IDetailsRow;
  metrics?: IMetricsRow;
  readonly targets: ITargetRow[];
  readonly testResults: ITestResultRow[];
  readonly testSummaries: ITestSummaryRow[];
  readonly testProgress: ITestProgressRow[];
  readonly configurations: IConfigurationRow[];
  readonly actions: IActionRow[];
  readonly problems: IProblemRow[];
  readonly fetches: IFetchRow[];
}

function nothingCollected(): Collected {
  return {
    targets: [],
    testResults: [],
    testSummaries: [],
    testProgress: [],
    configurations: [],
    actions: [],
    problems: [],
    fetches: [],
  };
}

function joined<P extends object>(earlier: P | undefined, later: P): P {
  return earlier === undefined ? later : { ...earlier, ...later };
}
