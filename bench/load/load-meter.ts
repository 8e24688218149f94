import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { cpuUsage } from "node:process";
import { type Clock, every } from "@millrace/base/clock";
import type { FakeBazelReport } from "@millrace/test/model/fake-bazel/fake-bazel";
import { type LatencyCounts, LatencyHistogram } from "./latency-histogram.ts";
import type { Silence } from "./shard-silences.ts";

const messagesMax = 5;
const loopDelayResolutionMs = 10;
const slicePeriodMs = 1_000;

/** What one process saw. Counts are of the whole run, `window` of the time that is measured. */
export interface LoadMeasures {
  readonly counts: LoadCounts;
  /** The first few reasons of failed uploads. */
  readonly messages: readonly string[];
  readonly window: WindowMeasures;
  /** Of the whole run; none unless the plan asks for them. */
  readonly silences: readonly Silence[];
}

export interface LoadCounts {
  /** Builds whose upload is over, the failed ones included. */
  readonly builds: number;
  readonly failed: number;
  readonly eventsAcked: number;
  readonly resent: number;
  /** Events that were sent and not acknowledged when their upload was over. */
  readonly missingAcks: number;
  /** Streams beyond each build's first. */
  readonly reconnects: number;
}

export interface WindowMeasures {
  readonly ms: number;
  readonly events: number;
  readonly builds: number;
  /** From an event's time to be sent to its ack. */
  readonly acks: LatencyCounts;
  /** The same by the time at which the ack arrived, about a second each. */
  readonly slices: readonly AckSlice[];
  /** From the time of a build's last event to the ack that Bazel exits on. */
  readonly flushes: LatencyCounts;
  readonly cpuMicros: number;
  readonly loopDelayP99Ms: number;
}

/** The acks of some time; `fromMs` and `toMs` are of the epoch. */
export interface AckSlice {
  readonly fromMs: number;
  readonly toMs: number;
  readonly acks: LatencyCounts;
}

/** Counts what a run does, and measures between `open` and `close`. */
export class LoadMeter {
  private readonly clock: Clock;
  private readonly loopDelay: ELDHistogram;
  private acks = new LatencyHistogram();
  private sliceFromMs = 0;
  private readonly slices: AckSlice[] = [];
  private stopSlicing = (): void => {};
  private readonly flushes = new LatencyHistogram();
  private readonly messages: string[] = [];
  private readonly counts = {
    builds: 0,
    failed: 0,
    eventsAcked: 0,
    resent: 0,
    missingAcks: 0,
    reconnects: 0,
  };
  private isOpen = false;
  private windowBuilds = 0;
  private openedAt = { ms: 0, cpuMicros: 0 };
  private closedAt = { ms: 0, cpuMicros: 0 };

  constructor(clock: Clock) {
    this.clock = clock;
    this.loopDelay = monitorEventLoopDelay({ resolution: loopDelayResolutionMs });
  }

  open(): void {
    this.isOpen = true;
    this.openedAt = this.reading();
    this.sliceFromMs = this.clock.now();
    this.stopSlicing = every(this.clock, slicePeriodMs, () => this.endSlice());
    this.loopDelay.enable();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.closedAt = this.reading();
    this.stopSlicing();
    this.endSlice();
    this.loopDelay.disable();
  }

  ack(latencyMs: number, isLast: boolean): void {
    this.counts.eventsAcked += 1;
    if (!this.isOpen) return;
    this.acks.record(latencyMs);
    if (isLast) this.flushes.record(latencyMs);
  }

  build(report: FakeBazelReport): void {
    const { counts } = this;
    counts.builds += 1;
    if (this.isOpen) this.windowBuilds += 1;
    counts.resent += report.resent;
    counts.missingAcks += report.sent - report.resent - report.acked;
    counts.reconnects += Math.max(0, report.streams.length - 1);
    if (report.message === "") return;
    counts.failed += 1;
    if (this.messages.length < messagesMax) this.messages.push(report.message);
  }

  measures(silences: readonly Silence[] = []): LoadMeasures {
    const { counts, messages, openedAt, closedAt, slices, flushes } = this;
    const acks = new LatencyHistogram();
    for (const slice of slices) acks.add(slice.acks);
    const loopDelayMs = this.loopDelay.percentile(99) / 1e6;
    return {
      counts,
      messages,
      silences,
      window: {
        ms: closedAt.ms - openedAt.ms,
        events: acks.count,
        builds: this.windowBuilds,
        acks: acks.taken(),
        slices,
        flushes: flushes.taken(),
        cpuMicros: closedAt.cpuMicros - openedAt.cpuMicros,
        // The histogram is of intervals: of a loop that nothing delays they are as long as the resolution.
        loopDelayP99Ms: Math.max(0, loopDelayMs - loopDelayResolutionMs),
      },
    };
  }

  private endSlice(): void {
    const toMs = this.clock.now();
    this.slices.push({ fromMs: this.sliceFromMs, toMs, acks: this.acks.taken() });
    this.sliceFromMs = toMs;
    this.acks = new LatencyHistogram();
  }

  private reading(): { ms: number; cpuMicros: number } {
    const { user, system } = cpuUsage();
    return { ms: this.clock.monotonic(), cpuMicros: user + system };
  }
}
