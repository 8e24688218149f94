import { assert } from "@millrace/base/assert";
import type { Lane, LaneTransaction } from "@millrace/db/lane";

/** Runs each transaction on the lane that has the fewest before it. */
export class LanePool {
  readonly #lanes: readonly Lane[];
  readonly #waiting: number[];

  constructor(lanes: readonly Lane[]) {
    assert(lanes.length > 0, "there is a lane for transactions");
    this.#lanes = lanes;
    this.#waiting = lanes.map(() => 0);
  }

  async transact<T>(work: (tx: LaneTransaction) => Promise<T>): Promise<T> {
    const which = this.#waiting.indexOf(Math.min(...this.#waiting));
    const lane = this.#lanes[which];
    assert(lane !== undefined, "the least busy lane is one of the lanes");
    this.#add(which, 1);
    try {
      return await lane.transact(work);
    } finally {
      this.#add(which, -1);
    }
  }

  #add(which: number, by: number): void {
    this.#waiting[which] = (this.#waiting[which] ?? 0) + by;
  }
}
