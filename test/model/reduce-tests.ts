import type { BepEvent } from "./decode.ts";
import type { ExpectedTestResult, ExpectedTestSummary } from "./expected-build.ts";
import { milliseconds, textOrNothing } from "./schema-values.ts";

/** Test attempts and summaries by their keys. */
export class TestReducer {
  private readonly attempts = new Map<string, ExpectedTestResult>();
  private readonly verdicts = new Map<string, ExpectedTestSummary>();

  add(event: BepEvent): void {
    if (event.testResult && event.id?.testResult) this.addResult(event);
    if (event.testSummary && event.id?.testSummary) this.addSummary(event);
  }

  results(): ExpectedTestResult[] {
    return sortedValues(this.attempts);
  }

  summaries(): ExpectedTestSummary[] {
    return sortedValues(this.verdicts);
  }

  private addResult({ id, testResult: it }: BepEvent): void {
    const { label, run, shard, attempt, configuration } = id?.testResult ?? {};
    const key = {
      label: label ?? "",
      configuration: configuration?.id ?? "",
      run: run ?? 0,
      shard: shard ?? 0,
      attempt: attempt ?? 0,
    };
    const text = JSON.stringify(Object.values(key));
    const before = this.attempts.get(text);
    const outputs = (it?.testActionOutput ?? []).map(({ name, uri }) => ({
      name: name ?? "",
      uri: uri ?? "",
    }));
    this.attempts.set(text, {
      ...key,
      status: it?.status ?? 0,
      statusDetails: textOrNothing(it?.statusDetails) ?? before?.statusDetails,
      startedAtMs: milliseconds(it?.testAttemptStart, it?.testAttemptStartMillisEpoch) ?? before?.startedAtMs,
      durationMs: milliseconds(it?.testAttemptDuration, it?.testAttemptDurationMillis) ?? before?.durationMs,
      cachedLocally: it?.cachedLocally ?? false,
      cachedRemotely: it?.executionInfo?.cachedRemotely ?? false,
      strategy: textOrNothing(it?.executionInfo?.strategy) ?? before?.strategy,
      exitCode: it?.executionInfo?.exitCode || before?.exitCode,
      outputs: outputs.length > 0 ? outputs : (before?.outputs ?? []),
    });
  }

  private addSummary({ id, testSummary: it }: BepEvent): void {
    const key = {
      label: id?.testSummary?.label ?? "",
      configuration: id?.testSummary?.configuration?.id ?? "",
    };
    const text = JSON.stringify(Object.values(key));
    const before = this.verdicts.get(text);
    this.verdicts.set(text, {
      ...key,
      overallStatus: it?.overallStatus ?? 0,
      totalRunCount: it?.totalRunCount ?? 0,
      runCount: it?.runCount ?? 0,
      attemptCount: it?.attemptCount ?? 0,
      shardCount: it?.shardCount ?? 0,
      totalNumCached: it?.totalNumCached ?? 0,
      firstStartAtMs: milliseconds(it?.firstStartTime, it?.firstStartTimeMillis) ?? before?.firstStartAtMs,
      lastStopAtMs: milliseconds(it?.lastStopTime, it?.lastStopTimeMillis) ?? before?.lastStopAtMs,
      totalRunDurationMs:
        milliseconds(it?.totalRunDuration, it?.totalRunDurationMillis) ?? before?.totalRunDurationMs,
    });
  }
}

function sortedValues<V>(map: ReadonlyMap<string, V>): V[] {
  return [...map.keys()].sort().flatMap((key) => map.get(key) ?? []);
}
