import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { runFakeBazel } from "@millrace/test/model/fake-bazel/fake-bazel";
import { LatencyHistogram } from "./latency-histogram.ts";

export interface LoadPlan {
  readonly address: string;
  /** Uploaders at the same time, each stream on a TCP connection of its own. */
  readonly streams: number;
  /** No new build is begun after this; those begun are finished. */
  readonly durationMs: number;
  /** Milliseconds from one event to the next; 0 is flat out. */
  readonly gapMs: number;
  /** Recorded requests of one build; every upload has ids of its own. */
  readonly recording: readonly Uint8Array[];
}

export interface LoadResult {
  readonly builds: number;
  readonly failed: number;
  readonly eventsAcked: number;
  readonly resent: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
}

/** Uploads builds over and over from a fixed number of uploaders, reading acks while it sends. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const latencies = new LatencyHistogram();
  const sum = { builds: 0, failed: 0, eventsAcked: 0, resent: 0 };
  const startedAt = systemClock.monotonic();
  const uploader = async (): Promise<void> => {
    while (systemClock.monotonic() - startedAt < plan.durationMs) await uploadOne(plan, { latencies, sum });
  };
  await Promise.all(Array.from({ length: plan.streams }, uploader));
  const seconds = (systemClock.monotonic() - startedAt) / 1_000;
  return {
    ...sum,
    seconds: Math.round(seconds * 100) / 100,
    eventsPerSecond: Math.round(sum.eventsAcked / seconds),
    ackP50Ms: Math.round(latencies.percentile(0.5) * 10) / 10,
    ackP99Ms: Math.round(latencies.percentile(0.99) * 10) / 10,
  };
}

async function uploadOne(
  plan: LoadPlan,
  into: {
    latencies: LatencyHistogram;
    sum: { builds: number; failed: number; eventsAcked: number; resent: number };
  },
): Promise<void> {
  const sentAt = new Float64Array(plan.recording.length + 2);
  const report = await runFakeBazel({
    address: plan.address,
    build: { recording: plan.recording },
    buildId: systemRandom.uuid(),
    invocationId: systemRandom.uuid(),
    transport: "http2",
    gapMs: plan.gapMs,
    beforeEvent: (sequence) => {
      sentAt[sequence] = systemClock.monotonic();
    },
    onAck: (sequence) => {
      into.sum.eventsAcked += 1;
      into.latencies.record(systemClock.monotonic() - (sentAt[sequence] ?? 0));
    },
  });
  into.sum.builds += 1;
  into.sum.resent += report.resent;
  if (report.exitCode !== 0) into.sum.failed += 1;
}
