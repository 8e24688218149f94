import { readEventId } from "@millrace/proto/bep/event-id";
import type { BepEvent } from "@millrace/proto/bep/kind";
import { readTestResult } from "@millrace/proto/bep/readers/test-result";
import { readTestSummary } from "@millrace/proto/bep/readers/test-summary";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { present, presentText, storable } from "./present.ts";

/** One attempt of one shard of one run. */
export function testResultRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const result = readTestResult(event);
  if (isMalformed(id) || isMalformed(result)) return false;
  if (id.label === "") return true; // Nothing names the test.
  rows.addTestResult({
    label: storable(id.label),
    configuration: storable(id.configuration),
    run: id.run,
    shard: id.shard,
    attempt: id.attempt,
    status: result.status,
    cachedLocally: result.cachedLocally,
    cachedRemotely: result.cachedRemotely,
    outputs: result.outputs.map(({ name, uri }) => ({ name: storable(name), uri: storable(uri) })),
    ...presentText("statusDetails", result.statusDetails),
    ...presentText("strategy", result.strategy),
    ...present("startedAtMs", result.startedAtMs),
    ...present("durationMs", result.durationMs),
    ...present("exitCode", result.exitCode === 0 ? undefined : result.exitCode),
  });
  return true;
}

/** How a test ended over all its runs, shards and attempts. */
export function testSummaryRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const summary = readTestSummary(event);
  if (isMalformed(id) || isMalformed(summary)) return false;
  if (id.label === "") return true; // Nothing names the test.
  rows.addTestSummary({
    label: storable(id.label),
    configuration: storable(id.configuration),
    overallStatus: summary.overallStatus,
    totalRunCount: summary.totalRunCount,
    runCount: summary.runCount,
    attemptCount: summary.attemptCount,
    shardCount: summary.shardCount,
    totalNumCached: summary.totalNumCached,
    ...present("firstStartAtMs", summary.firstStartAtMs),
    ...present("lastStopAtMs", summary.lastStopAtMs),
    ...present("totalRunDurationMs", summary.totalRunDurationMs),
  });
  return true;
}
