import type { Clock } from "@millrace/base/clock";
import { EndOfTurn } from "@millrace/base/end-of-turn";
import type { Bus } from "@millrace/proto/bus";
import { lifecycleChannel } from "@millrace/proto/channels";
import type { ILifecycleCall } from "@millrace/proto/pipeline";

/** Groups on their way at the same time: one writer that does not answer holds up few. */
const inFlightMax = 4;
const callsPerGroupMax = 1_000;

/** Called once: whether the call is stored. */
type Told = (isStored: boolean) => void;

interface Waiting {
  readonly call: ILifecycleCall;
  readonly since: number;
  readonly told: Told;
}

/**
 * Passes lifecycle calls to the writers in groups: what comes while others are on their way shares the next request,
 * its way over NATS and its transaction. Alone a call costs more there than all else that is done for it.
 */
export class LifecycleGroups {
  private readonly ports: { bus: Pick<Bus, "request">; clock: Clock };
  private readonly answerWithinMs: number;
  private waiting: Waiting[] = [];
  private inFlight = 0;
  private readonly endOfTurn = new EndOfTurn();

  /** @param answerWithinMs nobody is kept waiting for longer */
  constructor(ports: { bus: Pick<Bus, "request">; clock: Clock }, answerWithinMs: number) {
    this.ports = ports;
    this.answerWithinMs = answerWithinMs;
  }

  /** Resolves to whether the call is stored; to false when the writers did not say so in time. Never rejects. */
  record(call: ILifecycleCall): Promise<boolean> {
    return new Promise((told) => {
      this.waiting.push({ call, since: this.ports.clock.monotonic(), told });
      if (this.waiting.length === 1) this.endOfTurn.add(() => this.sendWaiting());
    });
  }

  private sendWaiting(): void {
    while (this.waiting.length > 0 && this.inFlight < inFlightMax) {
      const group = this.waiting.slice(0, callsPerGroupMax);
      this.waiting = this.waiting.slice(callsPerGroupMax);
      void this.send(group);
    }
  }

  private async send(group: readonly Waiting[]): Promise<void> {
    this.inFlight += 1;
    const isStored = await this.ask(group);
    this.inFlight -= 1;
    for (const { told } of group) told(isStored);
    this.sendWaiting();
  }

  private async ask(group: readonly Waiting[]): Promise<boolean> {
    const { bus, clock } = this.ports;
    const oldest = group[0]?.since ?? 0;
    const timeoutMs = this.answerWithinMs - (clock.monotonic() - oldest);
    if (timeoutMs <= 0) return false;
    const message = { calls: group.map(({ call }) => call) };
    return bus.request(lifecycleChannel, { subject: lifecycleChannel.name, message, timeoutMs }).then(
      () => true,
      () => false,
    );
  }
}
