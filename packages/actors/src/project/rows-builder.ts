import type {
  IInvocationPatch,
  IRows,
  ITargetRow,
  ITestResultRow,
  ITestSummaryRow,
} from "@millrace/proto/pipeline";

/** Row deltas of the events of one batch. The writer merges what has the same key; order is the events' order. */
export class RowsBuilder {
  private invocation: IInvocationPatch | undefined;
  private targets: ITargetRow[] = [];
  private testResults: ITestResultRow[] = [];
  private testSummaries: ITestSummaryRow[] = [];

  /** Fields that are present win over earlier ones of the batch. */
  patchInvocation(patch: IInvocationPatch): void {
    this.invocation = this.invocation === undefined ? patch : { ...this.invocation, ...patch };
  }

  addTarget(row: ITargetRow): void {
    this.targets.push(row);
  }

  addTestResult(row: ITestResultRow): void {
    this.testResults.push(row);
  }

  addTestSummary(row: ITestSummaryRow): void {
    this.testSummaries.push(row);
  }

  get isEmpty(): boolean {
    const rows = this.targets.length + this.testResults.length + this.testSummaries.length;
    return this.invocation === undefined && rows === 0;
  }

  /** What has come together since the last call. */
  take(): IRows {
    const rows: IRows = {
      ...(this.invocation === undefined ? {} : { invocation: this.invocation }),
      targets: this.targets,
      testResults: this.testResults,
      testSummaries: this.testSummaries,
    };
    this.invocation = undefined;
    this.targets = [];
    this.testResults = [];
    this.testSummaries = [];
    return rows;
  }

  /** Labels of the targets and tests that have rows here, each once. */
  changedLabels(): string[] {
    const labels = new Set<string>();
    for (const row of [...this.targets, ...this.testResults, ...this.testSummaries])
      labels.add(row.label ?? "");
    return [...labels];
  }
}
