import { largeEventBytes } from "../thread-messages.ts";

/** Why the rest of a request stream cannot be read. */
export type FramingFault =
  | { readonly kind: "too-large"; readonly bytes: number }
  | { readonly kind: "bad-prefix"; readonly flag: number };

/** Who gets the messages. All calls are synchronous; each may pause the assembler. */
export interface MessageSink {
  /** Asked when a message's length is known (the expanded one's bound, if compressed); false: ask after `resume`. */
  admit(messageBytes: number): boolean;
  /** A whole message. Small ones may share their buffer with others; above 1 MB it is theirs alone. */
  message(bytes: Buffer, isCompressed: boolean): void;
  /** Nothing of the stream is read after this. */
  fault(fault: FramingFault): void;
}

// One byte "compressed", the length in four bytes (gRPC over HTTP/2, "Length-Prefixed-Message").
const prefixBytes = 5;
const nothing = Buffer.alloc(0);

/** A compressed message may grow this many times; log text rarely does more than 30. */
const expansionMax = 64;
const expansionFloorBytes = 64 * 1024;

/** Bytes that a compressed message may have when expanded. */
export function expandedBytesMax(compressedBytes: number, messageBytesMax: number): number {
  return Math.min(messageBytesMax, compressedBytes * expansionMax + expansionFloorBytes);
}

/**
 * Cuts a gRPC request stream into messages. It stops before a message that is not admitted and holds what it was
 * given beyond; a message that spans chunks is copied once, into a buffer made when its length was known.
 */
export class MessageAssembler {
  private readonly sink: MessageSink;
  private readonly messageBytesMax: number;
  private readonly prefix = Buffer.alloc(prefixBytes);
  private prefixFill = 0;
  private target: Buffer | undefined;
  private targetFill = 0;
  private isTargetCompressed = false;
  private rest: Buffer = nothing;
  private isRunning = false;
  private isOver = false;
  private isStopped = false;

  constructor(sink: MessageSink, limits: { messageBytesMax: number }) {
    this.sink = sink;
    this.messageBytesMax = limits.messageBytesMax;
  }

  /** True while nothing more should be read from the connection. */
  get isPaused(): boolean {
    return this.isStopped;
  }

  /** True when no byte is held that does not belong to a delivered message. */
  get isEmpty(): boolean {
    return this.rest.length === 0 && this.target === undefined && this.prefixFill === 0;
  }

  /** True when everything held is a beginning of a message, so that no `resume` could deliver it. */
  get needsMore(): boolean {
    return this.rest.length === 0;
  }

  /** Bytes that have arrived of the message that is not complete yet. */
  get partialBytes(): number {
    return this.target === undefined ? 0 : this.targetFill;
  }

  push(chunk: Buffer): void {
    if (this.isOver) return;
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    this.run();
  }

  pause(): void {
    this.isStopped = true;
  }

  resume(): void {
    if (this.isOver) return;
    this.isStopped = false;
    this.run();
  }

  /** Drops everything, now and later. */
  stop(): void {
    this.isOver = true;
    this.isStopped = false;
    this.rest = nothing;
    this.target = undefined;
    this.prefixFill = 0;
  }

  private run(): void {
    // A sink that resumes while it takes a message is served by the loop that runs already.
    if (this.isRunning) return;
    this.isRunning = true;
    while (!this.isStopped && this.rest.length > 0) this.step();
    this.isRunning = false;
  }

  private step(): void {
    if (this.target !== undefined) return this.fillTarget(this.target);
    // The usual case: the prefix lies whole in the chunk.
    if (this.prefixFill === 0 && this.rest.length >= prefixBytes) {
      return this.begin(this.rest, prefixBytes);
    }
    const taken = this.rest.copy(this.prefix, this.prefixFill, 0, prefixBytes - this.prefixFill);
    this.prefixFill += taken;
    this.rest = this.rest.subarray(taken);
    if (this.prefixFill === prefixBytes) this.begin(this.prefix, 0);
  }

  /** @param used how much of `rest` the prefix takes */
  private begin(prefix: Buffer, used: number): void {
    const flag = prefix[0] as number;
    const length = prefix.readUInt32BE(1);
    if (flag > 1) return this.fail({ kind: "bad-prefix", flag });
    if (length > this.messageBytesMax) return this.fail({ kind: "too-large", bytes: length });
    const needed = flag === 1 ? expandedBytesMax(length, this.messageBytesMax) : length;
    if (!this.sink.admit(needed)) {
      // The prefix stays, and is read again after `resume`.
      if (used === 0) this.restorePrefix();
      if (!this.isOver) this.isStopped = true;
      return;
    }
    this.prefixFill = 0;
    const end = used + length;
    if (end <= this.rest.length && length <= largeEventBytes) {
      const message = this.rest.subarray(used, end);
      this.rest = this.rest.subarray(end);
      return this.sink.message(message, flag === 1);
    }
    this.target = length <= largeEventBytes ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
    this.targetFill = 0;
    this.isTargetCompressed = flag === 1;
    this.rest = this.rest.subarray(used);
    if (this.rest.length > 0) this.fillTarget(this.target);
  }

  private restorePrefix(): void {
    this.rest = Buffer.concat([this.prefix, this.rest]);
    this.prefixFill = 0;
  }

  private fillTarget(target: Buffer): void {
    const taken = this.rest.copy(target, this.targetFill, 0, target.length - this.targetFill);
    this.targetFill += taken;
    this.rest = this.rest.subarray(taken);
    if (this.targetFill < target.length) return;
    this.target = undefined;
    this.sink.message(target, this.isTargetCompressed);
  }

  private fail(fault: FramingFault): void {
    this.stop();
    this.sink.fault(fault);
  }
}
