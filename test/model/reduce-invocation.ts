import type { BepEvent } from "./decode.ts";
import type {
  ExpectedBuild,
  ExpectedCounters,
  ExpectedInvocation,
  ExpectedStatus,
} from "./expected-build.ts";
import { milliseconds, textOrNothing } from "./schema-values.ts";

type Said = Omit<ExpectedInvocation, "status" | "counters">;
type Rows = Pick<ExpectedBuild, "targets" | "testSummaries">;

const nothingSaid: Said = {
  exitCode: undefined,
  exitCodeName: undefined,
  failureMessage: undefined,
  command: undefined,
  toolVersion: undefined,
  patterns: [],
  user: undefined,
  host: undefined,
  workspaceDirectory: undefined,
  workingDirectory: undefined,
  startedAtMs: undefined,
  finishedAtMs: undefined,
  actionsExecuted: undefined,
  wallTimeMs: undefined,
  cpuTimeMs: undefined,
};

// Bazel's ExitCode.INTERRUPTED.
const interruptedExitCode = 8;

/** The invocation: of each field what was said last. */
export class InvocationReducer {
  private said: Said = nothingSaid;

  add(event: BepEvent): void {
    const news = {
      ...ofStarted(event),
      ...ofFinished(event),
      ...ofMetrics(event),
      ...ofWorkspaceStatus(event),
      ...ofPattern(event),
    };
    const present = Object.entries(news).filter(([, value]) => value !== undefined);
    this.said = { ...this.said, ...Object.fromEntries(present) };
  }

  row(ended: boolean, rows: Rows): ExpectedInvocation {
    return { ...this.said, status: this.status(ended), counters: countRows(rows) };
  }

  private status(ended: boolean): ExpectedStatus {
    const { exitCode, exitCodeName } = this.said;
    if (!ended) return "running";
    if (exitCode === undefined) return "aborted";
    if (exitCode === 0) return "succeeded";
    return exitCode === interruptedExitCode || exitCodeName === "INTERRUPTED" ? "interrupted" : "failed";
  }
}

function ofStarted({ started: it }: BepEvent): Partial<Said> {
  if (!it) return {};
  return {
    command: textOrNothing(it.command),
    toolVersion: textOrNothing(it.buildToolVersion),
    user: textOrNothing(it.user),
    host: textOrNothing(it.host),
    workspaceDirectory: textOrNothing(it.workspaceDirectory),
    workingDirectory: textOrNothing(it.workingDirectory),
    startedAtMs: milliseconds(it.startTime, it.startTimeMillis),
  };
}

function ofFinished({ finished: it }: BepEvent): Partial<Said> {
  if (!it) return {};
  return {
    // Without an exit code only success or not is known; Bazel's plainest failure is 1.
    exitCode: it.exitCode ? (it.exitCode.code ?? 0) : it.overallSuccess ? 0 : 1,
    exitCodeName: textOrNothing(it.exitCode?.name),
    failureMessage: textOrNothing(it.failureDetail?.message),
    finishedAtMs: milliseconds(it.finishTime, it.finishTimeMillis),
  };
}

function ofMetrics({ buildMetrics: it }: BepEvent): Partial<Said> {
  if (!it) return {};
  return {
    actionsExecuted: it.actionSummary ? (it.actionSummary.actionsExecuted ?? 0) : undefined,
    wallTimeMs: it.timingMetrics ? (it.timingMetrics.wallTimeInMs ?? 0) : undefined,
    cpuTimeMs: it.timingMetrics ? (it.timingMetrics.cpuTimeInMs ?? 0) : undefined,
  };
}

/** Bazels before 9 tell user and host by the workspace status alone. */
function ofWorkspaceStatus({ workspaceStatus: it }: BepEvent): Partial<Said> {
  const valueIn = (key: string) => textOrNothing(it?.item?.findLast((item) => item.key === key)?.value);
  return it ? { user: valueIn("BUILD_USER"), host: valueIn("BUILD_HOST") } : {};
}

/** Patterns are in the id, also when they could not be expanded. */
function ofPattern({ id }: BepEvent): Partial<Said> {
  const patterns = id?.pattern?.pattern ?? [];
  return patterns.length > 0 ? { patterns } : {};
}

function countRows({ targets, testSummaries }: Rows): ExpectedCounters {
  const own = targets.filter((target) => target.aspect === "");
  const tests = (matches: (status: number) => boolean) =>
    testSummaries.filter((summary) => matches(summary.overallStatus)).length;
  return {
    targetsTotal: own.length,
    targetsFailed: own.filter((target) => target.status === "failed").length,
    testsTotal: testSummaries.length,
    testsPassed: tests((status) => status === 1),
    testsFlaky: tests((status) => status === 2),
    testsFailed: tests((status) => status > 2),
  };
}
