import type { LoadMeasures } from "../load/load-meter.ts";
import type { LoadFigures, OracleFigures, Origin } from "../scenario/result-line.ts";
import type { Fault, FaultName } from "./fault.ts";
import { acksOutside, acksWithin, nextCommitMs } from "./outages.ts";

/** One run of chaos, as it is appended to `bench/results/chaos.jsonl`. */
export interface ChaosLine extends Origin, LoadFigures, OutageFigures, OracleFigures {
  /** How often a process died at which fail point. */
  readonly diedAt: Readonly<Record<string, number>>;
}

export interface OutageFigures {
  /** Acks that arrived when no fault was going on, nor had been for 10 s. */
  readonly outsideAcks: number;
  readonly outsideAckP50Ms: number;
  readonly outsideAckP99Ms: number;
  readonly outsideAckMaxMs: number;
  /** From a writer's leaving to the first ack of the last of its shards that had something due; 0: under 250 ms. */
  readonly nextCommitMsMax: number;
  readonly faults: readonly FaultFigures[];
}

interface FaultFigures {
  readonly name: FaultName;
  /** Since the measuring began. */
  readonly atSeconds: number;
  readonly seconds: number;
  /** Acks that arrived from its begin to 10 s after its end. */
  readonly acks: number;
  readonly ackP99Ms: number;
  readonly ackMaxMs: number;
  /** Of each writer that left. */
  readonly nextCommitMs: readonly number[];
  /** Processes that had not ended 30 s after SIGTERM and were killed. */
  readonly overdue: readonly string[];
  /** Processes that died until the next fault although nobody ended them. */
  readonly alsoDied: readonly string[];
}

/** Until then latencies are held to be the fault's. */
const aftermathMs = 10_000;
/** A shard's silences that are shorter are not looked at. */
export const silenceMsMin = 250;

/** What the faults did to the acks. */
export function outageFigures(parts: readonly LoadMeasures[], faults: readonly Fault[]): OutageFigures {
  const slices = parts.flatMap((part) => part.window.slices);
  const silences = parts.flatMap((part) => part.silences);
  const beganMs = Math.min(...slices.map(({ fromMs }) => fromMs));
  const spans = faults.map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + aftermathMs }));
  const outside = acksOutside(slices, spans);
  const figures = faults.map(({ name, fromMs, toMs, ended, overdue, alsoDied }): FaultFigures => {
    const writers = ended.filter((one) => one.name.startsWith("writer-"));
    const acks = acksWithin(slices, { fromMs, toMs: toMs + aftermathMs });
    return {
      name,
      atSeconds: round((fromMs - beganMs) / 1_000),
      seconds: round((toMs - fromMs) / 1_000),
      acks: acks.count,
      ackP99Ms: round(acks.percentile(0.99)),
      ackMaxMs: round(acks.maxMs),
      nextCommitMs: writers.map(({ atMs }) => nextCommitMs(atMs, silences)),
      overdue,
      alsoDied,
    };
  });
  return {
    outsideAcks: outside.count,
    outsideAckP50Ms: round(outside.percentile(0.5)),
    outsideAckP99Ms: round(outside.percentile(0.99)),
    outsideAckMaxMs: round(outside.maxMs),
    nextCommitMsMax: Math.max(0, ...figures.flatMap((fault) => fault.nextCommitMs)),
    faults: figures,
  };
}

function round(value: number): number {
  return Number(value.toFixed(1));
}
