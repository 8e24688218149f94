import { rendezvous } from "@millrace/base/hash";
import { shardCount } from "@millrace/proto/tokens";

/** Heartbeats come three times within this. */
export const silentAfterMs = 1_500;

/** Who serves: the writers that were heard lately and are not leaving. */
export class LiveWriters {
  readonly #self: string;
  readonly #heardAt = new Map<string, number>();

  constructor(self: string) {
    this.#self = self;
  }

  hear(writer: string, said: { draining: boolean; now: number }): void {
    if (writer === this.#self) return;
    if (said.draining) this.#heardAt.delete(writer);
    else this.#heardAt.set(writer, said.now);
  }

  /** Names of all that serve, this one included. */
  names(now: number): string[] {
    const others = [...this.#heardAt].filter(([, heardAt]) => now - heardAt < silentAfterMs);
    const names = others.map(([name]) => name);
    return [...names, this.#self].sort();
  }

  /** Shards of this writer, by rendezvous: when one comes or goes, only its shards move. */
  ownShards(now: number): Set<number> {
    const names = this.names(now);
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    return new Set(shards.filter((shard) => rendezvous(names, String(shard)) === this.#self));
  }
}
