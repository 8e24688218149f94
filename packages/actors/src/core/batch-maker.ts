import type { ICarry } from "@millrace/proto/pipeline";
import { Projector } from "../project/projector.ts";
import { BatchBuilder, type LogPosition, largeBatch } from "./batch-builder.ts";
import type { BatchContent, BatchLimits, Effect, ProjectedLarge, TimerName } from "./effects.ts";
import type { PendingEvent, PendingEvents } from "./pending-events.ts";

/**
 * Turns pending events into sealed batches and keeps the window of those in flight. One of the two places where
 * Millrace batches (the other is the writer's group commit).
 */
export class BatchMaker {
  private readonly limits: BatchLimits;
  private readonly pending: PendingEvents;
  private readonly effect: (effect: Effect) => void;
  /** For a stream that starts at 1 `open` rides on the first batch; else a lone `open` was sent before. */
  private opening: "not-sent" | "awaited" | "done";
  /** Raw events of the batch that opens the stream, until its answer. */
  private openingEvents: PendingEvent[] = [];
  private projector: Projector;
  private builder: BatchBuilder;
  private inFlight: BatchContent[] = [];
  private inFlightBytes = 0;
  private largeInWork = false;
  private inputEnded = false;
  private isOverdue = false;
  private readonly armed = new Set<TimerName>();
  /** True once a batch of this connection was sent. */
  hasSent = false;

  constructor(start: {
    firstSequence: number;
    limits: BatchLimits;
    pending: PendingEvents;
    effect: (effect: Effect) => void;
  }) {
    this.limits = start.limits;
    this.pending = start.pending;
    this.effect = start.effect;
    this.opening = start.firstSequence === 1 ? "not-sent" : "awaited";
    this.projector = this.newProjector(undefined);
    this.builder = new BatchBuilder(start.firstSequence, { bytes: 0, lines: 0 });
  }

  /** True when everything that came is committed. */
  get isIdle(): boolean {
    return (
      this.inFlight.length === 0 &&
      this.pending.length === 0 &&
      this.builder.count === 0 &&
      this.projector.held === 0 &&
      !this.largeInWork
    );
  }

  /** Projects what is pending and sends what is due. */
  advance(): void {
    if (this.opening === "awaited") return;
    for (;;) {
      this.fill();
      const isFull = this.isFull || this.pending.peek()?.large === true;
      if (this.builder.count === 0 || !this.maySend) break;
      if (!isFull && this.inFlight.length > 0 && !this.isOverdue) break;
      this.seal();
    }
    this.startLarge();
    this.armTimers();
  }

  /** No further event will come: nothing is held back for it. */
  endOfInput(): void {
    this.inputEnded = true;
    if (this.opening !== "awaited") this.projector.releaseHeld();
  }

  timer(name: TimerName): void {
    this.armed.delete(name);
    if (name === "batch") this.isOverdue = true;
    else this.projector.releaseHeld();
    this.advance();
  }

  /** Removes the batch that begins at `first` from the window; undefined when it is not there (any more). */
  answered(first: number): BatchContent | undefined {
    const batch = this.inFlight.find((candidate) => candidate.first === first);
    if (batch === undefined) return undefined;
    this.inFlight = this.inFlight.filter((candidate) => candidate !== batch);
    this.inFlightBytes -= batch.eventBytes + batch.logBytes;
    return batch;
  }

  /** The batch that opened the stream is committed. */
  openingDone(): void {
    this.opening = "done";
    this.openingEvents = [];
  }

  /** The attempt stands at `committed`: go on behind it with what its last owner left. */
  continueAt(committed: number, carry: ICarry): void {
    this.pending.unshift(this.openingEvents);
    this.openingDone();
    this.pending.dropUpTo(committed);
    this.projector = this.newProjector(carry);
    this.builder = new BatchBuilder(committed + 1, {
      bytes: carry.logBytes ?? 0,
      lines: carry.logLines ?? 0,
    });
  }

  largeProjected(large: ProjectedLarge): void {
    this.largeInWork = false;
    this.projector = this.newProjector({ scrub: large.scrub, finishSeen: large.finishSeen });
    const { batch, logEnd } = largeBatch(large, { log: this.builder.logEnd, opens: this.takeOpening() });
    this.builder = new BatchBuilder(large.sequence + 1, logEnd);
    this.send(batch);
  }

  /** Moves pending events into the builder until it is full or a large one is next. */
  private fill(): void {
    // What is projected while the opening is unanswered would be lost with the builder if the attempt stands elsewhere.
    if (this.opening === "awaited" || this.largeInWork || this.builder.endsStream) return;
    for (let next = this.pending.peek(); next !== undefined; next = this.pending.peek()) {
      if (this.isFull || next.large || this.builder.endsStream) break;
      this.pending.shift();
      if (this.opening === "not-sent") this.openingEvents.push(next);
      this.projector.offer(next.bytes);
    }
    const waitsInVain = this.pending.peek()?.large === true || this.inputEnded;
    if (waitsInVain || this.projector.held >= this.limits.batchEventsMax) this.projector.releaseHeld();
  }

  private get isFull(): boolean {
    return (
      this.builder.count + this.projector.held >= this.limits.batchEventsMax ||
      this.builder.bytes >= this.limits.batchBytesMax
    );
  }

  private get maySend(): boolean {
    return (
      this.opening !== "awaited" &&
      (this.inFlight.length === 0 ||
        (this.inFlight.length < this.limits.inFlightBatchesMax &&
          this.inFlightBytes < this.limits.inFlightBytesMax))
    );
  }

  /** A large event goes alone: behind all before it, projected by a task. */
  private startLarge(): void {
    const next = this.pending.peek();
    if (next?.large !== true || this.largeInWork || this.builder.count > 0 || !this.maySend) return;
    this.pending.shift();
    const keepsBytes = this.opening === "not-sent";
    if (keepsBytes) this.openingEvents.push(next);
    this.largeInWork = true;
    const carry = this.carry(this.builder.logEnd);
    this.effect({
      kind: "project-large",
      large: { sequence: next.sequence, bytes: next.bytes, carry, keepsBytes },
    });
  }

  private seal(): void {
    const logEnd = this.builder.logEnd;
    const batch = this.builder.seal({ carry: this.projector.carry(), opens: this.takeOpening() });
    this.builder = new BatchBuilder(batch.last + 1, logEnd);
    this.send(batch);
  }

  private send(batch: BatchContent): void {
    this.isOverdue = false;
    this.hasSent = true;
    this.inFlight.push(batch);
    this.inFlightBytes += batch.eventBytes + batch.logBytes;
    this.effect({ kind: "seal", batch });
  }

  private takeOpening(): boolean {
    if (this.opening !== "not-sent") return false;
    this.opening = "awaited";
    return true;
  }

  private armTimers(): void {
    if (this.builder.count > 0) this.arm("batch", this.limits.batchDelayMs);
    if (this.projector.held > 0) this.arm("held", this.limits.heldDelayMs);
  }

  private arm(timer: TimerName, delayMs: number): void {
    if (this.armed.has(timer)) return;
    this.armed.add(timer);
    this.effect({ kind: "arm", timer, delayMs });
  }

  private carry(log: LogPosition): ICarry {
    return { logBytes: log.bytes, logLines: log.lines, ...this.projector.carry() };
  }

  private newProjector(carry: ICarry | undefined): Projector {
    return new Projector(carry, () => this.builder);
  }
}
