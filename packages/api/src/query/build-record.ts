import type { QueryRecord } from "@millrace/base/query/match-query";
import type { AttemptRow } from "../queries/attempts.ts";

/** What queries see of an attempt: the same columns that `buildFilter` compares. */
export function buildRecord(row: AttemptRow["invocation"]): QueryRecord {
  const isFlaky = (row.testsFlaky ?? 0) > 0;
  return {
    texts: {
      status: isFlaky ? [row.status, "flaky"] : [row.status],
      user: [row.user],
      host: [row.host],
      command: [row.command],
      branch: [row.branch],
      commit: [row.commit],
      repository: [row.repositoryUrl],
      role: [row.role],
      pattern: row.patterns ?? [],
      invocation: [row.invocationId],
      build: [row.buildId],
      tool: [row.toolVersion],
      cpu: [row.cpu],
      platform: [row.platform],
      result: [row.exitCodeName],
    },
    numbers: numbersOf(row),
    free: [
      ...[row.user, row.host, row.command, row.branch, row.commit, row.repositoryUrl, row.invocationId],
      ...(row.patterns ?? []),
    ],
  };
}

function numbersOf(row: AttemptRow["invocation"]): QueryRecord["numbers"] {
  return {
    exit: row.exitCode,
    attempt: row.attempt,
    duration: row.durationMs,
    cputime: row.cpuTimeMs,
    actions: row.actionsExecuted,
    targets: row.targetsTotal,
    "targets.failed": row.targetsFailed,
    tests: row.testsTotal,
    "tests.failed": row.testsFailed,
    "tests.flaky": row.testsFlaky,
    started: row.startedAt?.getTime(),
    finished: row.finishedAt?.getTime(),
    created: row.createdAt.getTime(),
  };
}
