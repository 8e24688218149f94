/** What a histogram holds, for another process. */
export interface LatencyCounts {
  readonly counts: Uint32Array;
  readonly maxMs: number;
}

/**
 * Counts of latencies in logarithmic buckets of 2 % width, from 10 µs to 1,000 s: a percentile is off by at most
 * that, and recording allocates nothing.
 */
export class LatencyHistogram {
  private readonly counts = new Uint32Array(bucketCount);
  private total = 0;
  private highestMs = 0;

  record(latencyMs: number): void {
    const bucket = Math.floor(Math.log(Math.max(latencyMs, lowestMs) / lowestMs) / logWidth);
    const index = Math.min(bucket, bucketCount - 1);
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.total += 1;
    if (latencyMs > this.highestMs) this.highestMs = latencyMs;
  }

  get count(): number {
    return this.total;
  }

  /** The highest latency, exactly; 0 when there are none. */
  get maxMs(): number {
    return this.highestMs;
  }

  /** The latency in milliseconds that `share` (0 … 1) of the recorded ones do not exceed; 0 when there are none. */
  percentile(share: number): number {
    let left = Math.max(1, Math.ceil(this.total * share));
    for (let index = 0; index < bucketCount && this.total > 0; index += 1) {
      left -= this.counts[index] ?? 0;
      if (left <= 0) return Math.min(lowestMs * Math.exp((index + 1) * logWidth), this.highestMs);
    }
    return this.highestMs;
  }

  taken(): LatencyCounts {
    return { counts: this.counts, maxMs: this.highestMs };
  }

  add({ counts, maxMs }: LatencyCounts): void {
    for (const [index, count] of counts.entries()) {
      this.counts[index] = (this.counts[index] ?? 0) + count;
      this.total += count;
    }
    this.highestMs = Math.max(this.highestMs, maxMs);
  }
}

const lowestMs = 0.01;
const logWidth = Math.log(1.02);
const bucketCount = 940;
