import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { cpuUsage } from "node:process";
import type { Clock } from "@millrace/base/clock";
import type { FakeBazelReport } from "@millrace/test/model/fake-bazel/fake-bazel";
import { type LatencyCounts, LatencyHistogram } from "./latency-histogram.ts";

const messagesMax = 5;
const loopDelayResolutionMs = 10;

/** What one process saw. Counts are of the whole run, `window` of the time that is measured. */
export interface LoadMeasures {
  readonly counts: LoadCounts;
  /** The first few reasons of failed uploads. */
  readonly messages: readonly string[];
  readonly window: WindowMeasures;
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
  /** From the time of a build's last event to the ack that Bazel exits on. */
  readonly flushes: LatencyCounts;
  readonly cpuMicros: number;
  readonly loopDelayP99Ms: number;
}

/** Counts what a run does, and measures between `open` and `close`. */
export class LoadMeter {
  private readonly clock: Clock;
  private readonly loopDelay: ELDHistogram;
  private readonly acks = new LatencyHistogram();
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
    this.loopDelay.enable();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.closedAt = this.reading();
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

  measures(): LoadMeasures {
    const { counts, messages, openedAt, closedAt, acks, flushes } = this;
    const loopDelayMs = this.loopDelay.percentile(99) / 1e6;
    return {
      counts,
      messages,
      window: {
        ms: closedAt.ms - openedAt.ms,
        events: acks.count,
        builds: this.windowBuilds,
        acks: acks.taken(),
        flushes: flushes.taken(),
        cpuMicros: closedAt.cpuMicros - openedAt.cpuMicros,
        // The histogram is of intervals: of a loop that nothing delays they are as long as the resolution.
        loopDelayP99Ms: Math.max(0, loopDelayMs - loopDelayResolutionMs),
      },
    };
  }

  private reading(): { ms: number; cpuMicros: number } {
    const { user, system } = cpuUsage();
    return { ms: this.clock.monotonic(), cpuMicros: user + system };
  }
}
