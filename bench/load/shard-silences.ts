import type { Clock } from "@millrace/base/clock";
import { shardCount } from "@millrace/proto/tokens";

/** A time without any ack of a shard that somebody waited for. Milliseconds of the epoch. */
export interface Silence {
  readonly shard: number;
  /** The ack before. */
  readonly fromMs: number;
  /** When the event was due whose ack ended it: until then the shard may just have had nothing to do. */
  readonly dueMs: number;
  readonly toMs: number;
}

/** Notes when shards fall silent although something is due. */
export class ShardSilences {
  private readonly clock: Clock;
  private readonly fromMs: number;
  private readonly lastMs = new Float64Array(shardCount);
  private readonly found: Silence[] = [];

  /** Waiting of less than `fromMs` is passed over. */
  constructor(clock: Clock, fromMs: number) {
    this.clock = clock;
    this.fromMs = fromMs;
  }

  ack(shard: number, latencyMs: number): void {
    const nowMs = this.clock.now();
    const lastMs = this.lastMs[shard] ?? 0;
    this.lastMs[shard] = nowMs;
    if (lastMs === 0 || Math.min(nowMs - lastMs, latencyMs) < this.fromMs) return;
    this.found.push({ shard, fromMs: lastMs, dueMs: nowMs - latencyMs, toMs: nowMs });
  }

  taken(): readonly Silence[] {
    return this.found;
  }
}
