import type { Clock } from "@millrace/base/clock";
import type { Bus } from "@millrace/proto/bus";
import { liveChannel, liveSubject } from "@millrace/proto/channels";
import type { Digest } from "../core/effects.ts";

/** Shortest time between two digests of one attempt. */
const digestPeriodMs = 250;
/** More changed labels than this in one digest are said as `allChanged`. */
const changedLabelsMax = 100;

/** Says on the live channel what has been committed: the first at once, then at most every 250 ms, the last always. */
export class LiveDigests {
  private latest: Digest | undefined;
  private changed = new Set<string>();
  private isWaiting = false;
  private readonly ports: { bus: Bus; clock: Clock };
  private readonly key: { project: string; invocationId: string };

  constructor(ports: { bus: Bus; clock: Clock }, key: { project: string; invocationId: string }) {
    this.ports = ports;
    this.key = key;
  }

  say(digest: Digest): void {
    this.latest = digest;
    for (const label of digest.changedLabels) {
      if (this.changed.size <= changedLabelsMax) this.changed.add(label);
    }
    if (digest.ended) this.publish();
    else if (!this.isWaiting) {
      this.publish();
      this.wait();
    }
  }

  private wait(): void {
    this.isWaiting = true;
    this.ports.clock.after(digestPeriodMs, () => {
      this.isWaiting = false;
      if (this.latest === undefined) return;
      this.publish();
      this.wait();
    });
  }

  private publish(): void {
    const digest = this.latest;
    if (digest === undefined) return;
    this.latest = undefined;
    const allChanged = this.changed.size > changedLabelsMax;
    this.ports.bus.publish(liveChannel, {
      subject: liveSubject(this.key.project, this.key.invocationId),
      message: {
        ...this.key,
        attemptId: digest.attemptId,
        attempt: digest.attempt,
        lastSequence: digest.committed,
        logBytes: digest.logBytes,
        logLines: digest.logLines,
        ended: digest.ended,
        changedLabels: allChanged ? [] : [...this.changed],
        allChanged,
      },
    });
    this.changed = new Set();
  }
}
