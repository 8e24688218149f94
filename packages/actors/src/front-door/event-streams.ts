import { type Clock, every } from "@millrace/base/clock";
import type { EndStatus } from "../thread-messages.ts";
import { EventStream, type StreamWorld } from "./event-stream.ts";
import type { StreamCall, StreamCallSink } from "./stream-call.ts";

/** How often streams are looked at for messages that stopped arriving. */
const stallLookMs = 10_000;

/** Everything of a `StreamWorld` that comes from outside. */
export type StreamsPorts = Omit<StreamWorld, "isDraining" | "flushSoon" | "over" | "counters">;

/** All build event streams that are open in this process. */
export class EventStreams {
  readonly counters = { opened: 0, acks: 0, brokenOff: 0 };
  /** Streams ended from this side, by gRPC status. */
  readonly endedBy = new Map<EndStatus, number>();
  private readonly open = new Set<EventStream>();
  private readonly toFlush = new Set<EventStream>();
  private readonly world: StreamWorld;
  private readonly clock: Clock;
  private lastConnection = 0;
  private isDraining = false;
  private isFlushAsked = false;
  private onEmpty = (): void => {};
  private readonly stopLooking: () => void;

  constructor(ports: StreamsPorts) {
    this.clock = ports.clock;
    this.world = {
      ...ports,
      counters: this.counters,
      isDraining: () => this.isDraining,
      flushSoon: (stream) => this.flushSoon(stream),
      over: (stream, status) => this.over(stream, status),
    };
    this.stopLooking = every(ports.clock, stallLookMs, () => {
      if (ports.budget.waitingStreams > 0) for (const stream of [...this.open]) stream.lookForStall();
    });
  }

  /** How many streams are open. */
  get size(): number {
    return this.open.size;
  }

  /** Takes a new call. `makeCall` is handed the sink of the call that it makes. */
  begin(makeCall: (sink: StreamCallSink) => StreamCall): void {
    this.lastConnection += 1;
    this.counters.opened += 1;
    const stream = new EventStream(this.lastConnection, this.world);
    this.open.add(stream);
    stream.begin(makeCall(stream));
  }

  /** From now on new streams are turned away, and ends that would cost a client a retry are kept back. */
  startDraining(): void {
    this.isDraining = true;
    this.stopLooking();
  }

  /** Resolves when no stream is open, at the latest after `deadlineMs`. */
  empty(deadlineMs: number): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.clock.after(deadlineMs, resolve);
      this.onEmpty = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Ends what is still open, evenly over `spreadMs`, so that the clients do not all come back at once. */
  async sendAway(spreadMs: number): Promise<void> {
    const left = [...this.open];
    left.forEach((stream, at) => {
      this.clock.after((spreadMs * at) / left.length, () => stream.sendAway());
    });
    await this.empty(spreadMs + 100);
    for (const stream of [...this.open]) stream.sendAway();
  }

  private flushSoon(stream: EventStream): void {
    this.toFlush.add(stream);
    if (this.isFlushAsked) return;
    this.isFlushAsked = true;
    setImmediate(() => {
      this.isFlushAsked = false;
      for (const one of this.toFlush) one.flush();
      this.toFlush.clear();
    });
  }

  private over(stream: EventStream, status: EndStatus | undefined): void {
    this.open.delete(stream);
    if (status === undefined) this.counters.brokenOff += 1;
    else this.endedBy.set(status, (this.endedBy.get(status) ?? 0) + 1);
    if (this.open.size === 0) this.onEmpty();
  }
}
