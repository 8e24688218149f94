import type { build_event_stream } from "@millrace/proto/gen/bep";
import { timestamp } from "./opening-events.ts";
import type { BuildSketch, TargetSketch } from "./sketch.ts";

type Bep = build_event_stream.BuildEvent.$Properties;

/** Numbers of TestStatus. */
const status = { passed: 1, flaky: 2, failed: 4 } as const;

/** One execution of a test. */
export interface Execution {
  readonly run: number;
  readonly shard: number;
  readonly attempt: number;
  readonly passes: boolean;
}

/** How a build's test results are dealt out to its tests, the same in every variant. */
export interface TestPlan {
  readonly executions: readonly Execution[];
  readonly overall: number;
}

/**
 * Deals `results` executions out to `tests` tests: one each; what is left goes to the first as its second attempt or
 * run, then to the second as further shards. The first is the one that is flaky or fails.
 */
export function planTests(build: BuildSketch): TestPlan[] {
  const { testSummary: tests, testResult: results } = build.recipe;
  const { isFlaky, kind } = build.outcome;
  const fails = kind === "tests-failed";
  const once = { run: 1, shard: 1, attempt: 1, passes: true };
  const extra = results - tests;
  return Array.from({ length: tests }, (_, test) => {
    if (test === 0 && extra > 0) {
      const again = isFlaky || fails ? { ...once, attempt: 2, passes: !fails } : { ...once, run: 2 };
      const overall = fails ? status.failed : isFlaky ? status.flaky : status.passed;
      return { executions: [{ ...once, passes: !(isFlaky || fails) }, again], overall };
    }
    const shards = test === 1 ? Math.max(1, extra) : 1;
    const executions = Array.from({ length: shards }, (__, index) => ({ ...once, shard: index + 1 }));
    return { executions, overall: status.passed };
  });
}

function testResultId(
  target: TargetSketch,
  execution: Execution,
): build_event_stream.BuildEventId.$Properties {
  const { run, shard, attempt } = execution;
  const { label, configuration } = target;
  return { testResult: { label, run, shard, attempt, configuration: { id: configuration } } };
}

export function testResultEvent(build: BuildSketch, target: TargetSketch, execution: Execution): Bep {
  const { chance } = build;
  const startMs = build.startMs + chance.between(2_000, 90_000);
  const durationMs = chance.between(12, 240_000);
  const isRemote = chance.between(1, 4) === 1;
  const phases = [
    "parseTime",
    "fetchTime",
    "queueTime",
    "uploadTime",
    "setupTime",
    "executionWallTime",
    "networkTime",
  ];
  return {
    id: testResultId(target, execution),
    testResult: {
      status: execution.passes ? status.passed : status.failed,
      statusDetails: execution.passes ? "" : `exit status ${chance.between(1, 127)}`,
      testActionOutput: outputs.map((name) => {
        const file = { digest: chance.hex(64), length: chance.between(100, 900_000) };
        return { name, uri: `${build.blobs}/${file.digest}/${file.length}`, ...file };
      }),
      cachedLocally: chance.between(1, 8) === 1,
      testAttemptStartMillisEpoch: startMs,
      testAttemptStart: timestamp(startMs),
      testAttemptDurationMillis: durationMs,
      testAttemptDuration: timestamp(durationMs),
      executionInfo: {
        strategy: isRemote ? "remote" : "linux-sandbox",
        hostname: isRemote ? `exec-${chance.hex(8)}.${build.project}.example.net` : "",
        cachedRemotely: isRemote && chance.between(0, 1) === 1,
        exitCode: execution.passes ? 0 : 1,
        timingBreakdown: {
          name: "totalTime",
          time: timestamp(durationMs),
          child: phases.map((name) => ({ name, time: timestamp(chance.between(0, durationMs)) })),
        },
      },
    },
  };
}

const outputs = ["test.log", "test.xml", "test.outputs__outputs.zip"];

export function testSummaryEvent(build: BuildSketch, target: TargetSketch, plan: TestPlan): Bep {
  const { chance } = build;
  const { executions, overall } = plan;
  const firstMs = build.startMs + chance.between(2_000, 9_000);
  const totalMs = chance.between(12, 240_000);
  const logs = (passes: boolean) =>
    executions
      .filter((one) => one.passes === passes)
      .map(() => ({ uri: `${build.blobs}/${chance.hex(64)}/${chance.between(100, 900_000)}` }));
  const most = (of: (one: Execution) => number) => Math.max(...executions.map(of));
  return {
    id: { testSummary: { label: target.label, configuration: { id: target.configuration } } },
    testSummary: {
      overallStatus: overall,
      totalRunCount: executions.length,
      runCount: most(({ run }) => run),
      shardCount: most(({ shard }) => shard) > 1 ? most(({ shard }) => shard) : 0,
      attemptCount: most(({ attempt }) => attempt),
      passed: logs(true),
      failed: logs(false),
      firstStartTimeMillis: firstMs,
      firstStartTime: timestamp(firstMs),
      lastStopTimeMillis: firstMs + totalMs,
      lastStopTime: timestamp(firstMs + totalMs),
      totalRunDurationMillis: totalMs,
      totalRunDuration: timestamp(totalMs),
    },
  };
}
