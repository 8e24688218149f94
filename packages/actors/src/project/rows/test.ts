import { readEventId } from "@millrace/proto/bep/event-id";
import type { BepEvent } from "@millrace/proto/bep/kind";
import { readTestResult } from "@millrace/proto/bep/readers/test-result";
import { readTestSummary } from "@millrace/proto/bep/readers/test-summary";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { isKey, storable, storableAll, textOrNull } from "./present.ts";

/** A row shows a test's outputs; tests with tens of thousands of them exist. */
const outputsMax = 1000;

/** One attempt of one shard of one run. */
export function testResultRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const result = readTestResult(event);
  if (isMalformed(id) || isMalformed(result)) return false;
  if (!isKey(id.label, id.configuration)) return true;
  rows.addTestResult({
    label: storable(id.label),
    configuration: storable(id.configuration),
    run: id.run,
    shard: id.shard,
    attempt: id.attempt,
    status: result.status,
    cachedLocally: result.cachedLocally,
    cachedRemotely: result.cachedRemotely,
    outputs: result.outputs
      .slice(0, outputsMax)
      .map(({ name, uri }) => ({ name: storable(name), uri: storable(uri) })),
    statusDetails: textOrNull(result.statusDetails),
    strategy: textOrNull(result.strategy),
    startedAtMs: result.startedAtMs ?? null,
    durationMs: result.durationMs ?? null,
    exitCode: result.exitCode === 0 ? null : result.exitCode,
    hostname: textOrNull(result.hostname),
    warnings: storableAll(result.warnings),
    executionInfo: keptInfo(result.executionInfo),
  });
  return true;
}

/** Of an ExecutionInfo with more than this only the raw event tells. */
const infoBytesMax = 64 * 1024;

function keptInfo(info: Uint8Array | undefined): Uint8Array | null {
  return info === undefined || info.length === 0 || info.length > infoBytesMax ? null : info;
}

/** How a test ended over all its runs, shards and attempts. */
export function testSummaryRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const summary = readTestSummary(event);
  if (isMalformed(id) || isMalformed(summary)) return false;
  if (!isKey(id.label, id.configuration)) return true;
  rows.addTestSummary({
    label: storable(id.label),
    configuration: storable(id.configuration),
    overallStatus: summary.overallStatus,
    totalRunCount: summary.totalRunCount,
    runCount: summary.runCount,
    attemptCount: summary.attemptCount,
    shardCount: summary.shardCount,
    totalNumCached: summary.totalNumCached,
    firstStartAtMs: summary.firstStartAtMs ?? null,
    lastStopAtMs: summary.lastStopAtMs ?? null,
    totalRunDurationMs: summary.totalRunDurationMs ?? null,
  });
  return true;
}
