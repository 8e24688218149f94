import type { FieldScanner, Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** Numbers of BuildMetrics that trends are made of, beside those of `readMetrics`. Absent: not reported. */
export interface MetricTotals {
  readonly criticalPathMs?: number;
  readonly usedHeapBytes?: number;
  readonly peakHeapBytes?: number;
  readonly bytesSent?: number;
  readonly bytesReceived?: number;
  readonly outputBytes?: number;
  readonly outputCount?: number;
}

type Numbers = { -readonly [Name in keyof MetricTotals]: MetricTotals[Name] };

// Field numbers of BuildMetrics and of its groups.
const memory = { field: 2, names: { 1: "usedHeapBytes", 2: "peakHeapBytes" } } as const;
const timing = { field: 5, criticalPath: 6 } as const;
const artifacts = { field: 7, seen: { field: 3, names: { 1: "outputBytes", 2: "outputCount" } } } as const;
const network = { field: 10, system: { field: 1, names: { 1: "bytesSent", 2: "bytesReceived" } } } as const;

/** Reads a payload of kind `buildMetrics`. */
export function readMetricTotals(event: BepEvent): MetricTotals | Malformed {
  const numbers: Numbers = {};
  const criticalPath = new TimeParts();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(memory.field)) readNumbers(scanner, numbers, memory.names);
    else if (scanner.isBytes(timing.field)) {
      const inner = scanner.child();
      while (inner.next()) if (inner.isBytes(timing.criticalPath)) criticalPath.read(inner);
    } else if (scanner.isBytes(artifacts.field)) readWithin(scanner, artifacts.seen, numbers);
    else if (scanner.isBytes(network.field)) readWithin(scanner, network.system, numbers);
  }
  if (scanner.malformed) return scanner.malformed;
  const criticalPathMs = criticalPath.timestampMs;
  return criticalPathMs === undefined ? numbers : { ...numbers, criticalPathMs };
}

type Names = Readonly<Record<number, keyof MetricTotals>>;

function readNumbers(outer: FieldScanner, numbers: Numbers, names: Names): void {
  const scanner = outer.child();
  while (scanner.next()) {
    const name = names[scanner.field];
    if (name !== undefined && scanner.isVarint(scanner.field)) numbers[name] = scanner.int64;
  }
}

function readWithin(outer: FieldScanner, within: { field: number; names: Names }, numbers: Numbers): void {
  const scanner = outer.child();
  while (scanner.next()) if (scanner.isBytes(within.field)) readNumbers(scanner, numbers, within.names);
}
