import type { TestEvidence } from "../evidence/test-logs.ts";
import type { Reduced } from "../reduce/reduced.ts";
import type { TestRecord } from "../reduce/test-table.ts";
import type { TargetDetail, TestDetail } from "../store/details.ts";
import type { TargetCounts, TestCounts } from "../store/record.ts";

/** Targets by outcome. An abort without a result counts as failed unless it was never to be built. */
export function countTargets(reduced: Reduced): TargetCounts {
  let succeeded = 0;
  let failed = 0;
  for (const target of reduced.targets) {
    if (target.aspect !== "") continue;
    if (target.success) succeeded += 1;
    else if (target.aborted !== "skipped" && target.aborted !== "no_build") failed += 1;
  }
  const labels = new Set(reduced.targets.map((target) => target.label));
  return { requested: Math.max(reduced.requestedTargets, labels.size), succeeded, failed };
}

export function countTests(tests: readonly TestRecord[]): TestCounts {
  const counts = { passed: 0, failed: 0, flaky: 0, skipped: 0, incomplete: 0, cached: 0 };
  for (const test of tests) {
    if (test.status === "passed") counts.passed += 1;
    else if (test.status === "flaky") counts.flaky += 1;
    else if (test.status === "skipped") counts.skipped += 1;
    else if (test.status === "failed" || test.status === "failed_to_build") counts.failed += 1;
    else counts.incomplete += 1;
    if (test.status === "passed" && test.attempts > 0 && test.cachedAttempts >= test.attempts) {
      counts.cached += 1;
    }
  }
  const { cached, ...rest } = counts;
  return cached === 0 ? rest : { ...rest, cached };
}

export function targetDetails(reduced: Reduced): TargetDetail[] {
  return reduced.targets.map((target) => ({
    label: target.label,
    success: target.success,
    ...(target.configuration === "" ? {} : { configuration: target.configuration.slice(0, 12) }),
    ...(target.aspect === "" ? {} : { aspect: target.aspect }),
    ...(target.aborted === "" ? {} : { aborted: target.aborted }),
  }));
}

export function testDetail(test: TestRecord, evidence: TestEvidence | undefined): TestDetail {
  const isCached = test.attempts > 0 && test.cachedAttempts >= test.attempts;
  const hasLog = evidence !== undefined && evidence.reason === undefined;
  return {
    label: test.label,
    status: test.status,
    ...(test.configuration === "" ? {} : { configuration: test.configuration.slice(0, 12) }),
    duration_ms: test.durationMs,
    attempts: test.attempts,
    ...(test.shards > 1 ? { shards: test.shards } : {}),
    ...(isCached ? { cached: true } : {}),
    ...(test.strategy === "" ? {} : { strategy: test.strategy }),
    ...(evidence === undefined || evidence.cases.length === 0 ? {} : { cases: evidence.cases }),
    test_log_available: hasLog,
    ...(evidence?.reason === undefined ? {} : { test_log_unavailable_reason: evidence.reason }),
  };
}
