import { assert } from "@millrace/base/assert";
import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import { readStreamId } from "@millrace/proto/bes/identity";
import { type PeekedRequest, peekRequest } from "@millrace/proto/bes/peek";
import type { IngestFailPoints } from "../fail-point-names.ts";
import { type EndStatus, endStatus } from "../thread-messages.ts";
import { AckQueue } from "./ack-queue.ts";
import type { AccountHolder, ByteBudget, StreamAccount } from "./byte-budget.ts";
import type { Ingest, IngestListener, Lane } from "./ingest.ts";
import type { KeyGrant } from "./key-cache.ts";
import type { KeyDesk, KeyOutcome } from "./key-desk.ts";
import type { AckRange, CallFault, StreamCall, StreamCallSink } from "./stream-call.ts";
import * as rules from "./stream-rules.ts";

export interface StreamLimits {
  readonly messageBytesMax: number;
  readonly outageHoldMaxMs: number;
}

/** What all streams of a front door share. */
export interface StreamWorld {
  readonly budget: ByteBudget;
  readonly ingest: Ingest;
  readonly keys: KeyDesk;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: StreamLimits;
  readonly points: IngestFailPoints;
  readonly isDraining: () => boolean;
  /** Calls `flush` of the stream at the end of the tick. */
  readonly flushSoon: (stream: EventStream) => void;
  /** The stream is over; its memory may still be in use. */
  readonly over: (stream: EventStream, status: EndStatus | undefined) => void;
  readonly counters: { acks: number };
}

/** Acknowledgements per write; 90 bytes each. */
const acksPerWrite = 4_096;
/** A client that leaves so many acknowledgements unread is not read from until it has read half of them. */
const ackBacklogMax = 20_000;
/** How long a new stream waits for its thread to be restarted. */
const threadWaitMaxMs = 15_000;
/** Looks at a message that does not grow before its stream is ended. */
const stallLooksMax = 3;

interface Opened {
  readonly lane: Lane;
  readonly streamId: Buffer;
  readonly acks: AckQueue;
  readonly first: number;
  last: number;
}

/**
 * One connection of a build event stream: from its key and its first message, through every event, to its last
 * acknowledgement. It knows nothing of attempts, positions or commits: those are the actor's.
 */
export class EventStream implements StreamCallSink, IngestListener, AccountHolder {
  readonly connection: number;
  private readonly world: StreamWorld;
  private call: StreamCall | undefined;
  private grant: KeyGrant | undefined;
  private account: StreamAccount | undefined;
  private opened: Opened | undefined;
  /** The first message, while its thread is being restarted. */
  private held: PeekedRequest | undefined;
  private cancelHold = (): void => {};
  private messages = 0;
  private hasHalfClosed = false;
  private isOver = false;
  /** The thread's end during a drain, kept back until the deadline. */
  private postponed: rules.Refusal | undefined;
  private isAckReader = true;
  private isHeldByAcks = false;
  private seenPartial = 0;
  private stallLooks = 0;

  constructor(connection: number, world: StreamWorld) {
    this.connection = connection;
    this.world = world;
  }

  /** Takes the call whose sink this stream is. */
  begin(call: StreamCall): void {
    this.call = call;
    if (this.world.isDraining()) return this.refuse(rules.draining);
    const known = this.world.keys.known(call.apiKey);
    if (known !== undefined) return this.admitted(known);
    const holdMs = this.world.limits.outageHoldMaxMs;
    void this.world.keys
      .resolve(call.apiKey, { holdMs, isGone: () => this.isOver })
      .then((outcome) => this.admitted(outcome));
  }

  // What the call says.

  admit(messageBytes: number): boolean {
    return this.account !== undefined && this.world.budget.admit(this.account, messageBytes);
  }

  message(bytes: Uint8Array): void {
    if (this.isOver) return;
    this.messages += 1;
    const request = peekRequest(bytes);
    if (request.kind === "malformed") {
      return this.refuse(rules.malformedMessage(request, { message: this.messages, bytes: bytes.length }));
    }
    const problem = this.opened === undefined ? this.open(request) : this.checkNext(this.opened, request);
    if (problem !== undefined) return this.refuse(problem);
    if (this.opened !== undefined && this.held === undefined) this.forward(this.opened, request);
  }

  fault(fault: CallFault): void {
    this.refuse(rules.faultyStream(fault, this.world.limits.messageBytesMax));
  }

  halfClosed(): void {
    if (this.isOver) return;
    this.hasHalfClosed = true;
    if (this.opened !== undefined) this.opened.lane.halfClosed();
    else if (this.held === undefined) this.refuse(rules.nothingSent);
  }

  broken(): void {
    if (this.isOver) return;
    if (this.postponed === undefined) this.opened?.lane.broken();
    this.finish(undefined);
  }

  drained(): void {
    this.isAckReader = true;
    this.flush();
  }

  // What the thread says.

  acked(to: number, releasedBytes: number): void {
    if (releasedBytes > 0 && this.account !== undefined) {
      this.world.budget.release(this.account, releasedBytes);
    }
    const { opened } = this;
    if (opened === undefined) return;
    if (this.isOver) return this.closeLaneWhenReleased();
    if (to <= opened.acks.acked) return;
    assert(to <= opened.last, "only events that this connection has sent are acknowledged");
    opened.acks.upTo(to);
    this.world.flushSoon(this);
  }

  ackedAgain(sequence: number): void {
    if (this.isOver || this.opened === undefined) return;
    this.opened.acks.again(sequence);
    this.world.flushSoon(this);
  }

  ended(status: EndStatus, message: string): void {
    this.endOrPostpone({ status, message });
  }

  lost(): void {
    this.endOrPostpone(this.world.isDraining() ? rules.draining : rules.threadDied);
    if (this.account !== undefined) this.world.budget.forget(this.account);
  }

  // What the budget says.

  resume(): void {
    if (!this.isOver && this.held === undefined && !this.isHeldByAcks) this.call?.resume();
  }

  shed(): void {
    this.refuse(rules.outOfMemory);
  }

  // What the front door says.

  /** Writes the acknowledgements that wait, as far as the client reads. */
  flush(): void {
    const { opened, call } = this;
    if (this.isOver || opened === undefined || call === undefined) return;
    while (this.isAckReader) {
      const acks = this.nextAcks(opened);
      if (acks === undefined) break;
      this.isAckReader = call.write(acks);
      void this.world.points.reach("acks-sent");
    }
    if (opened.acks.length > ackBacklogMax && !this.isHeldByAcks) {
      this.isHeldByAcks = true;
      call.pause();
    } else if (this.isHeldByAcks && opened.acks.length <= ackBacklogMax / 2) {
      this.isHeldByAcks = false;
      this.resume();
    }
  }

  /** Ends the stream at the drain's deadline. */
  sendAway(): void {
    if (this.postponed !== undefined) this.end(this.postponed);
    else this.refuse(rules.draining);
  }

  /** One look at whether the message that is arriving grows. Call it every 10 s while others wait for memory. */
  lookForStall(): void {
    const partial = this.call?.partialBytes ?? 0;
    const hasStalled = partial > 0 && partial === this.seenPartial && !this.isHeldByAcks;
    this.stallLooks = hasStalled ? this.stallLooks + 1 : 0;
    this.seenPartial = partial;
    if (this.stallLooks >= stallLooksMax) this.refuse(rules.stalledMessage);
  }

  private admitted(outcome: KeyOutcome): void {
    if (this.isOver) return;
    switch (outcome.kind) {
      case "granted":
        this.grant = outcome.grant;
        this.account = this.world.budget.open({
          connection: this.connection,
          project: outcome.grant.project,
          holder: this,
        });
        return this.resume();
      case "refused":
        return this.refuse({ status: endStatus.failedPrecondition, message: outcome.message });
      case "unanswered":
        return this.refuse(rules.keyUnanswered(this.world.limits.outageHoldMaxMs));
    }
  }

  /** The first message: who is this? Connects to the thread, or holds the message until the thread is there. */
  private open(request: PeekedRequest): rules.Refusal | undefined {
    const { grant } = this;
    assert(grant !== undefined, "nothing is read before the key is known");
    const streamId = Buffer.from(request.bytes.subarray(request.streamIdStart, request.streamIdEnd));
    const identity = readStreamId(streamId);
    if ("kind" in identity) {
      return rules.malformedMessage(identity, { message: 1, bytes: request.bytes.length });
    }
    const problem = rules.checkIdentity(identity) ?? rules.checkSequence(request.sequence);
    if (problem !== undefined) return problem;
    const { project, serverSecret } = grant;
    const { invocationId, buildId } = identity;
    const { connection } = this;
    const first = request.sequence;
    const start = { connection, project, invocationId, buildId, firstSequence: first, serverSecret };
    const lane = this.world.ingest.connect(start, this);
    if (lane === undefined) {
      this.hold(request, { project, invocationId });
      return undefined;
    }
    this.opened = { lane, streamId, acks: new AckQueue(first), first, last: first - 1 };
    return undefined;
  }

  private hold(request: PeekedRequest, invocation: { project: string; invocationId: string }): void {
    this.held = request;
    this.call?.pause();
    const cancelTimer = this.world.clock.after(threadWaitMaxMs, () => this.refuse(rules.threadDied));
    const cancelWait = this.world.ingest.whenUp(invocation, () => this.unhold(request));
    this.cancelHold = () => {
      cancelTimer();
      cancelWait();
    };
  }

  private unhold(request: PeekedRequest): void {
    this.cancelHold();
    if (this.isOver) return;
    this.held = undefined;
    // Checked before: only the thread was missing.
    this.open(request);
    if (this.opened === undefined) return;
    this.forward(this.opened, request);
    if (this.hasHalfClosed) this.opened.lane.halfClosed();
    this.resume();
  }

  private checkNext(opened: Opened, request: PeekedRequest): rules.Refusal | undefined {
    const { streamId } = opened;
    const { bytes, streamIdStart, streamIdEnd } = request;
    const isSame =
      streamIdEnd - streamIdStart === streamId.length &&
      streamId.compare(bytes, streamIdStart, streamIdEnd) === 0;
    if (!isSame && !isSameStream(streamId, bytes.subarray(streamIdStart, streamIdEnd))) {
      return rules.streamIdChanged;
    }
    return rules.checkSequence(request.sequence);
  }

  private forward(opened: Opened, request: PeekedRequest): void {
    assert(this.account !== undefined, "an event is charged before it is handed on");
    if (request.sequence > opened.last) opened.last = request.sequence;
    opened.lane.event(request);
    this.world.budget.settle(this.account, request.eventEnd - request.eventStart);
  }

  private nextAcks(opened: Opened): AckRange | undefined {
    const run = opened.acks.take(acksPerWrite);
    if (run === undefined) return undefined;
    this.world.counters.acks += run.to - run.from + 1;
    return { streamId: opened.streamId, ...run };
  }

  /** Ends the stream from this side; the thread learns that nothing more comes. */
  private refuse(refusal: rules.Refusal): void {
    if (this.isOver) return;
    // A drain ends a thousand streams; what a client did wrong is rare.
    const level = refusal.status === endStatus.unavailable ? "debug" : "warn";
    this.world.log[level]("a stream was ended", {
      connection: this.connection,
      peer: this.call?.peer,
      status: refusal.status,
      reason: refusal.message,
    });
    this.opened?.lane.broken();
    this.end(refusal);
  }

  /** During a drain an end without any acknowledgement costs the client one of its few retries: it comes last. */
  private endOrPostpone(refusal: rules.Refusal): void {
    if (this.isOver || this.postponed !== undefined) return;
    const hasAcked = this.opened !== undefined && this.opened.acks.acked >= this.opened.first;
    const isForced = refusal.status === endStatus.unavailable && this.world.isDraining();
    if (isForced && !hasAcked) this.postponed = refusal;
    else this.end(refusal);
  }

  /** The acknowledgements that wait leave with the status, whether the client reads or not. */
  private end({ status, message }: rules.Refusal): void {
    const acks: AckRange[] = [];
    if (this.opened !== undefined) {
      for (let next = this.nextAcks(this.opened); next !== undefined; next = this.nextAcks(this.opened)) {
        acks.push(next);
      }
    }
    this.call?.end({ status, message, acks });
    this.finish(status);
  }

  private finish(status: EndStatus | undefined): void {
    this.isOver = true;
    this.cancelHold();
    this.held = undefined;
    if (this.account !== undefined) this.world.budget.close(this.account);
    this.closeLaneWhenReleased();
    this.world.over(this, status);
  }

  private closeLaneWhenReleased(): void {
    if (this.account === undefined || this.account.inFlight === 0) this.opened?.lane.close();
  }
}

function isSameStream(one: Uint8Array, other: Uint8Array): boolean {
  const [a, b] = [readStreamId(one), readStreamId(other)];
  if ("kind" in a || "kind" in b) return false;
  return a.invocationId === b.invocationId && a.buildId === b.buildId && a.component === b.component;
}
