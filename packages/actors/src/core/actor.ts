import type { IBatchReply, IOpenReply, IStreamRefused } from "@millrace/proto/pipeline";
import { RefusalReason } from "@millrace/proto/pipeline";
import { type EndStatus, endStatus, eventOverheadBytes, largeEventBytes } from "../thread-messages.ts";
import { BatchMaker } from "./batch-maker.ts";
import {
  type BatchContent,
  type BatchLimits,
  type Digest,
  type Effect,
  type Opened,
  type ProjectedLarge,
  readOpened,
  type TimerName,
} from "./effects.ts";
import { PendingEvents } from "./pending-events.ts";
import {
  classifyArrival,
  markCommitted,
  markSeen,
  type StreamPosition,
  startOfConnection,
  takeAcks,
} from "./position.ts";

/** What is known of the attempt. `removed`: nothing is awaited any more. */
type Phase = "opening" | "writing" | "finished" | "removed";
/** What the client's side does. `gone`: nothing more is read from it or said to it. */
type Client = "sending" | "half-closed" | "gone";

/**
 * One connection of an invocation's stream (SPEC.md §3). No I/O, no clock, no chance: inputs are method calls,
 * what is to be done is collected as effects and taken by the host after each turn.
 */
export class Actor {
  private phase: Phase = "opening";
  private client: Client = "sending";
  private draining = false;
  /** Events came that were not taken: the client has to send them again. */
  private hasTurnedAway = false;
  private position: StreamPosition;
  private readonly pending: PendingEvents;
  private readonly maker: BatchMaker;
  private opened: Opened | undefined;
  private effects: Effect[] = [];

  constructor(start: { firstSequence: number; limits: BatchLimits }) {
    this.position = startOfConnection(start.firstSequence);
    this.pending = new PendingEvents(start.firstSequence);
    this.maker = new BatchMaker({ ...start, pending: this.pending, effect: (e) => this.effects.push(e) });
    if (start.firstSequence > 1) this.effects.push({ kind: "open", firstSequence: start.firstSequence });
  }

  /** What is to be done since the last call. */
  takeEffects(): readonly Effect[] {
    const effects = this.effects;
    if (effects.length > 0) this.effects = [];
    return effects;
  }

  /** The attempt that this actor writes, once it is known. */
  get attemptId(): number | undefined {
    return this.opened?.attemptId;
  }

  get isRemoved(): boolean {
    return this.phase === "removed";
  }

  /** The next event of the connection; `bytes` must stay unchanged until it is committed. */
  event(sequence: number, bytes: Uint8Array): void {
    const cost = bytes.length + eventOverheadBytes;
    if (this.client !== "sending" || this.draining) {
      this.hasTurnedAway = true;
      return this.ignore(cost);
    }
    const arrival = classifyArrival(this.position, sequence);
    switch (arrival.kind) {
      case "gap":
        this.ignore(cost);
        return this.end(endStatus.failedPrecondition, gapMessage(sequence, arrival.expected));
      case "repeat":
        this.ignore(cost);
        // One that is not committed yet is answered by the ack of its first arrival.
        if (sequence <= this.position.acked) this.effects.push({ kind: "ack-again", sequence });
        return;
      case "stored":
        this.position = markSeen(this.position, sequence);
        return this.pending.skip(cost);
      case "new":
        if (this.phase === "finished") {
          this.ignore(cost);
          return this.end(endStatus.failedPrecondition, endedMessage(this.position.committed));
        }
        this.position = markSeen(this.position, sequence);
        this.pending.push({ sequence, bytes, large: bytes.length > largeEventBytes }, cost);
    }
  }

  /** All events of the tick are in: acks and batches leave. */
  turnEnded(): void {
    if (this.phase === "removed") return;
    this.ackCommitted();
    if (this.phase !== "finished") this.maker.advance();
    this.leaveWhenDone();
  }

  /** The client will send no more. */
  halfClose(): void {
    if (this.client === "sending") this.client = "half-closed";
    this.maker.endOfInput();
    this.turnEnded();
  }

  /** The connection is gone; what it sent is still stored. */
  break(): void {
    this.client = "gone";
    this.maker.endOfInput();
    this.turnEnded();
  }

  /** A newer connection of the same attempt has opened it: its resend covers what is here. */
  supersede(): void {
    this.stop(endStatus.aborted, "a newer connection continues this stream");
  }

  /** Takes no more events; acks for what is in hand still leave, then the stream ends with UNAVAILABLE. */
  drain(): void {
    this.draining = true;
    this.maker.endOfInput();
    this.turnEnded();
  }

  /** The drain's time is over: whoever is still connected is sent away, acked up to here. */
  drainDeadline(): void {
    this.stop(endStatus.unavailable, "the server is restarting");
  }

  /** Nobody has answered for `outageHoldMax`. */
  outageTooLong(): void {
    this.stop(endStatus.unavailable, "the storage has been away for too long");
  }

  timer(name: TimerName): void {
    if (this.phase === "removed") return;
    this.maker.timer(name);
    this.leaveWhenDone();
  }

  /** The answer to a lone `open`. */
  openAnswered(reply: IOpenReply): void {
    if (this.phase !== "opening") return;
    if (reply.refused) return this.refused(reply.refused);
    if (reply.opened) this.becomeOpen(readOpened(reply.opened));
    this.turnEnded();
  }

  largeProjected(large: ProjectedLarge): void {
    if (this.phase === "removed") return;
    this.maker.largeProjected(large);
    this.turnEnded();
  }

  /** The answer to the batch that begins at `first`. */
  batchAnswered(first: number, reply: IBatchReply): void {
    const batch = this.maker.answered(first);
    if (batch === undefined || this.phase === "removed") return;
    if (reply.committed) this.committed(batch, reply.committed);
    else if (reply.opened) this.becomeOpen(readOpened(reply.opened));
    else if (reply.refused) return this.refused(reply.refused);
    else if (reply.rejected) {
      return this.stop(endStatus.failedPrecondition, `cannot be stored: ${reply.rejected.message ?? ""}`);
    } else return this.stop(endStatus.unavailable, "another connection writes this stream now");
    this.turnEnded();
  }

  private committed(batch: BatchContent, reply: NonNullable<IBatchReply["committed"]>): void {
    const opened = reply.opened ? readOpened(reply.opened) : undefined;
    // An attempt that is further on than this batch was written by an earlier owner: go on from its carry.
    if (opened !== undefined && (opened.finished || opened.committed > batch.last)) {
      return this.becomeOpen(opened);
    }
    this.opened ??= opened;
    this.maker.openingDone();
    this.phase = batch.endsStream ? "finished" : "writing";
    this.position = markCommitted(this.position, reply.lastSequence ?? batch.last);
    this.effects.push({ kind: "digest", digest: this.digestOf(batch) });
    this.ackCommitted();
    this.refuseWhatFollowsTheEnd();
  }

  private digestOf(batch: BatchContent): Digest {
    return {
      attemptId: this.opened?.attemptId ?? 0,
      attempt: this.opened?.attempt ?? 0,
      committed: this.position.committed,
      logBytes: batch.carry.logBytes ?? 0,
      logLines: batch.carry.logLines ?? 0,
      ended: batch.endsStream,
      changedLabels: batch.changedLabels,
    };
  }

  private becomeOpen(opened: Opened): void {
    this.opened = opened;
    this.phase = opened.finished ? "finished" : "writing";
    this.position = markCommitted(this.position, opened.committed);
    this.maker.continueAt(opened.committed, opened.carry);
    this.refuseWhatFollowsTheEnd();
  }

  private refuseWhatFollowsTheEnd(): void {
    if (this.phase !== "finished" || this.position.seen <= this.position.committed) return;
    this.end(endStatus.failedPrecondition, endedMessage(this.position.committed));
    this.pending.dropAll();
  }

  private refused(refusal: IStreamRefused): void {
    const isHole = refusal.reason === RefusalReason.HOLE;
    this.stop(
      isHole ? endStatus.failedPrecondition : endStatus.unavailable,
      refusal.message ?? "the stream cannot be continued",
    );
  }

  private ackCommitted(): void {
    const acks = takeAcks(this.position);
    const released = this.pending.releaseUpTo(this.position.committed);
    if (acks.to < acks.from && released === 0) return;
    this.position = acks.position;
    this.effects.push({ kind: "ack", to: this.position.acked, released });
  }

  private ignore(cost: number): void {
    this.effects.push({ kind: "ack", to: this.position.acked, released: cost });
  }

  /** Ends the connection, if it still stands; what it sent is still stored. */
  private end(status: EndStatus, message: string): void {
    if (this.client === "gone") return;
    this.client = "gone";
    this.maker.endOfInput();
    const { acked, seen, committed } = this.position;
    // Who sends a finished stream again may be in the middle of it: OK would tell Bazel that acks are missing.
    const isComplete = this.phase === "finished" && acked === seen && acked === committed;
    // Once the end is acked, an error would make Bazel hang or fail a build that is safe (bes-client.md §0.2).
    const ending = isComplete ? endStatus.ok : status;
    this.effects.push({ kind: "end", status: ending, message: isComplete ? "" : message });
  }

  /** Ends the connection and forgets what is not committed: it will be sent again. */
  private stop(status: EndStatus, message: string): void {
    if (this.phase === "removed") return;
    this.ackCommitted();
    this.end(status, message);
    this.remove();
  }

  private leaveWhenDone(): void {
    if (this.phase === "removed") return;
    if (this.phase !== "finished" && !this.maker.isIdle) return;
    if (this.client === "half-closed" && this.position.acked === this.position.seen) {
      if (this.hasTurnedAway) this.end(endStatus.unavailable, "the server is restarting");
      else this.end(endStatus.ok, "");
    } else if (this.draining && this.client === "sending" && this.maker.hasSent) {
      this.end(endStatus.unavailable, "the server is restarting");
    }
    if (this.client === "gone") this.remove();
  }

  private remove(): void {
    const released = this.pending.releaseUpTo(Number.MAX_SAFE_INTEGER);
    if (released > 0) this.effects.push({ kind: "ack", to: this.position.acked, released });
    if (this.opened !== undefined && this.phase !== "finished") {
      this.effects.push({ kind: "release", attemptId: this.opened.attemptId });
    }
    this.phase = "removed";
    this.effects.push({ kind: "remove" });
  }
}

function gapMessage(sequence: number, expected: number): string {
  return `event ${sequence} came where ${expected} was expected; nothing of it was stored`;
}

function endedMessage(committed: number): string {
  return `the stream has ended with event ${committed}; nothing can follow it`;
}
