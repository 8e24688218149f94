import { rendezvous } from "@millrace/base/hash";
import { shardCount } from "@millrace/proto/tokens";

/**
 * A writer is gone when so many of our own heartbeats passed without one of its. Our own beats are the clock, so that
 * a process that was held up does not take the others for dead.
 */
export const silentAfterBeats = 3;

/** Who serves: the writers that were heard lately and are not leaving. */
export class LiveWriters {
  readonly #self: string;
  readonly #heardAt = new Map<string, number>();

  constructor(self: string) {
    this.#self = self;
  }

  hear(writer: string, said: { draining: boolean; beat: number }): void {
    if (writer === this.#self) return;
    if (said.draining) this.#heardAt.delete(writer);
    else this.#heardAt.set(writer, said.beat);
  }

  /** Names of all that serve, this one included. */
  names(beat: number): string[] {
    const others = [...this.#heardAt].filter(([, heardAt]) => beat - heardAt < silentAfterBeats);
    const names = others.map(([name]) => name);
    return [...names, this.#self].sort();
  }

  /** Shards of this writer, by rendezvous: when one comes or goes, only its shards move. */
  ownShards(beat: number): Set<number> {
    const names = this.names(beat);
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    return new Set(shards.filter((shard) => rendezvous(names, String(shard)) === this.#self));
  }
}
