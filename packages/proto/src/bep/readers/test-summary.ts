import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** TestSummary. Label and configuration are in the event's id. */
export interface TestSummary {
  readonly overallStatus: number;
  readonly totalRunCount: number;
  readonly runCount: number;
  readonly attemptCount: number;
  readonly shardCount: number;
  readonly totalNumCached: number;
  readonly firstStartAtMs: number | undefined;
  readonly lastStopAtMs: number | undefined;
  readonly totalRunDurationMs: number | undefined;
}

/** Reads a payload of kind `testSummary`. */
export function readTestSummary(event: BepEvent): TestSummary | Malformed {
  const counts = { totalRunCount: 0, runCount: 0, attemptCount: 0, shardCount: 0, totalNumCached: 0 };
  const millis = { firstStart: 0, lastStop: 0, totalRun: 0 };
  const firstStart = new TimeParts();
  const lastStop = new TimeParts();
  const totalRun = new TimeParts();
  let overallStatus = 0;
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) counts.totalRunCount = scanner.int32;
    else if (scanner.isVarint(5)) overallStatus = scanner.int32;
    else if (scanner.isVarint(6)) counts.totalNumCached = scanner.int32;
    else if (scanner.isVarint(7)) millis.firstStart = scanner.int64;
    else if (scanner.isVarint(8)) millis.lastStop = scanner.int64;
    else if (scanner.isVarint(9)) millis.totalRun = scanner.int64;
    else if (scanner.isVarint(10)) counts.runCount = scanner.int32;
    else if (scanner.isVarint(11)) counts.shardCount = scanner.int32;
    else if (scanner.isBytes(12)) totalRun.read(scanner);
    else if (scanner.isBytes(13)) firstStart.read(scanner);
    else if (scanner.isBytes(14)) lastStop.read(scanner);
    else if (scanner.isVarint(15)) counts.attemptCount = scanner.int32;
  }
  if (scanner.malformed) return scanner.malformed;
  return {
    overallStatus,
    ...counts,
    firstStartAtMs: firstStart.orMillis(millis.firstStart),
    lastStopAtMs: lastStop.orMillis(millis.lastStop),
    totalRunDurationMs: totalRun.orMillis(millis.totalRun),
  };
}
