import type { FieldScanner, Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";

/** The few numbers of BuildMetrics that an invocation's row shows. 0 also for what an older Bazel does not report. */
export interface Metrics {
  readonly actionsCreated: number;
  readonly actionsExecuted: number;
  readonly remoteCacheHits: number;
  readonly actionCacheHits: number;
  readonly actionCacheMisses: number;
  readonly targetsLoaded: number;
  readonly targetsConfigured: number;
  readonly packagesLoaded: number;
  readonly cpuTimeMs: number;
  readonly wallTimeMs: number;
  readonly analysisPhaseTimeMs: number;
  readonly executionPhaseTimeMs: number;
}

type Numbers = { -readonly [Name in keyof Metrics]: number };
type FieldNames = Readonly<Record<number, keyof Metrics>>;

// Fields of the sub-messages of BuildMetrics, by number.
const actionSummary: FieldNames = { 1: "actionsCreated", 2: "actionsExecuted", 5: "remoteCacheHits" };
const actionCache: FieldNames = { 3: "actionCacheHits", 4: "actionCacheMisses" };
const targets: FieldNames = { 1: "targetsLoaded", 2: "targetsConfigured" };
const packages: FieldNames = { 1: "packagesLoaded" };
const timing: FieldNames = {
  1: "cpuTimeMs",
  2: "wallTimeMs",
  3: "analysisPhaseTimeMs",
  4: "executionPhaseTimeMs",
};

const actionCacheStatisticsField = 7;

/** Reads a payload of kind `buildMetrics`. */
export function readMetrics(event: BepEvent): Metrics | Malformed {
  const numbers: Numbers = {
    ...{
      actionsCreated: 0,
      actionsExecuted: 0,
      remoteCacheHits: 0,
      actionCacheHits: 0,
      actionCacheMisses: 0,
    },
    ...{ targetsLoaded: 0, targetsConfigured: 0, packagesLoaded: 0 },
    ...{ cpuTimeMs: 0, wallTimeMs: 0, analysisPhaseTimeMs: 0, executionPhaseTimeMs: 0 },
  };
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) readActionSummary(scanner, numbers);
    else if (scanner.isBytes(3)) readNumbers(scanner, numbers, targets);
    else if (scanner.isBytes(4)) readNumbers(scanner, numbers, packages);
    else if (scanner.isBytes(5)) readNumbers(scanner, numbers, timing);
  }
  return scanner.malformed ?? numbers;
}

function readActionSummary(outer: FieldScanner, numbers: Numbers): void {
  const scanner = outer.child();
  while (scanner.next()) {
    const name = actionSummary[scanner.field];
    if (name !== undefined && scanner.isVarint(scanner.field)) numbers[name] = scanner.int64;
    else if (scanner.isBytes(actionCacheStatisticsField)) readNumbers(scanner, numbers, actionCache);
  }
}

function readNumbers(outer: FieldScanner, numbers: Numbers, names: FieldNames): void {
  const scanner = outer.child();
  while (scanner.next()) {
    const name = names[scanner.field];
    if (name !== undefined && scanner.isVarint(scanner.field)) numbers[name] = scanner.int64;
  }
}
