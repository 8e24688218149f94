import { constants, type ServerHttp2Stream } from "node:http2";
import { unzip } from "node:zlib";
import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { frameAcks } from "@millrace/proto/bes/ack";
import { endStatus } from "../thread-messages.ts";
import { endTogether } from "./end-together.ts";
import { apiKeyOf, type BidirectionalCall, endCall, sendHeaders, statusTrailers } from "./grpc-call.ts";
import { expandedBytesMax, MessageAssembler } from "./message-assembler.ts";
import type { AckRange, CallEnding, CallFault, StreamCall, StreamCallSink } from "./stream-call.ts";

export interface DirectCallSettings {
  readonly clock: Clock;
  readonly messageBytesMax: number;
  /** Last acknowledgements and status in one write (`checkReach`). */
  readonly endsTogether: boolean;
}

/** A client that was told of an error and does not close its side is cut off after this. */
const lingerMs = 30_000;

/**
 * A call whose messages are read from, and whose acknowledgements are written to, the HTTP/2 stream under the
 * library's call; headers, status, deadline and cancellation stay the library's. Through the library an
 * acknowledgement costs 11 µs and a message 3 µs (lab measurements, Node 20), a paused stream goes on taking up to
 * 16 messages, and a large message exists twice while it is put together.
 */
export class DirectCall implements StreamCall {
  readonly apiKey: string | undefined;
  readonly peer: string;
  private readonly call: BidirectionalCall;
  private readonly stream: ServerHttp2Stream;
  private readonly sink: StreamCallSink;
  private readonly settings: DirectCallSettings;
  private readonly assembler: MessageAssembler;
  private isExpanding = false;
  /** The sink wants to read on when the message that is being expanded has been delivered. */
  private isPausedBySink = true;
  private hasHalfClosed = false;
  private isEnded = false;
  private cancelLinger = (): void => {};
  /** Writes that are not out yet. */
  private unwritten = 0;
  private ending: CallEnding | undefined;
  private readonly onWritten = (): void => {
    this.unwritten -= 1;
    if (this.ending === undefined || this.unwritten > 0) return;
    this.finish(this.ending);
    this.ending = undefined;
  };

  /** @param under what `http2StreamUnder(call)` found, before anything was read */
  constructor(
    under: { call: BidirectionalCall; stream: ServerHttp2Stream },
    to: { sink: StreamCallSink; settings: DirectCallSettings },
  ) {
    this.call = under.call;
    this.stream = under.stream;
    this.sink = to.sink;
    this.settings = to.settings;
    this.apiKey = apiKeyOf(under.call.metadata);
    this.peer = under.call.getPeer();
    this.assembler = new MessageAssembler(
      {
        admit: (bytes) => this.sink.admit(bytes),
        message: (bytes, isCompressed) => this.message(bytes, isCompressed),
        fault: (fault) => this.fault(fault),
      },
      to.settings,
    );
    this.assembler.pause();
    sendHeaders(under.call);
    this.takeOver();
  }

  get partialBytes(): number {
    return this.assembler.partialBytes;
  }

  pause(): void {
    this.isPausedBySink = true;
    this.assembler.pause();
    if (!this.stream.isPaused()) this.stream.pause();
  }

  resume(): void {
    this.isPausedBySink = false;
    if (this.isEnded || this.isExpanding) return;
    this.assembler.resume();
    this.follow();
  }

  write(acks: AckRange): boolean {
    if (this.isEnded || this.stream.destroyed) return true;
    this.unwritten += 1;
    return this.stream.write(frameAcks(acks), this.onWritten);
  }

  end(ending: CallEnding): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.assembler.stop();
    // What the client still sends is read and dropped.
    this.stream.resume();
    if (this.unwritten === 0) this.finish(ending);
    else this.ending = ending;
    if (ending.status === endStatus.ok || this.stream.destroyed) return;
    this.cancelLinger = this.settings.clock.after(lingerMs, () => {
      if (!this.stream.closed) this.stream.close(constants.NGHTTP2_CANCEL);
    });
  }

  /**
   * A client that has all acknowledgements and then loses the connection hangs (Bazel 4.2.3), so the last ones and the
   * status go to the socket in one write.
   */
  private finish(ending: CallEnding): void {
    const { stream } = this;
    if (stream.destroyed) return;
    const bytes = Buffer.concat(ending.acks.map(frameAcks));
    const trailers = statusTrailers(ending);
    if (this.settings.endsTogether && endTogether(stream, { bytes, trailers })) return;
    if (bytes.length > 0) stream.write(bytes);
    endCall(this.call, ending);
  }

  private takeOver(): void {
    const { stream } = this;
    stream.removeAllListeners("data");
    stream.removeAllListeners("end");
    stream.on("data", (chunk: Buffer) => {
      if (this.isEnded) return;
      this.assembler.push(chunk);
      this.follow();
    });
    stream.on("end", () => {
      // Seen also when the connection dies; then it has been aborted before.
      if (stream.aborted) return;
      this.hasHalfClosed = true;
      this.follow();
    });
    stream.on("drain", () => {
      if (!this.isEnded) this.sink.drained();
    });
    // The library listens for the first error only; `close` follows each.
    stream.on("error", () => {});
    stream.once("close", () => this.cancelLinger());
    this.call.once("cancelled", () => {
      if (this.isEnded) return;
      this.isEnded = true;
      this.assembler.stop();
      this.sink.broken();
    });
    stream.pause();
  }

  /** Makes the connection follow the assembler, and reports the half-close behind the last message. */
  private follow(): void {
    if (this.isEnded) return;
    const mustPause = this.assembler.isPaused;
    if (mustPause !== this.stream.isPaused()) {
      if (mustPause) this.stream.pause();
      else this.stream.resume();
    }
    if (!this.hasHalfClosed || this.isExpanding || !this.assembler.needsMore) return;
    this.hasHalfClosed = false;
    if (this.assembler.isEmpty) this.sink.halfClosed();
    else this.fault({ kind: "cut-off" });
  }

  private message(bytes: Buffer, isCompressed: boolean): void {
    if (!isCompressed) return this.sink.message(bytes);
    this.isExpanding = true;
    this.assembler.pause();
    const maxOutputLength = expandedBytesMax(bytes.length, this.settings.messageBytesMax);
    // Tells gzip from deflate by itself; the library does not hand on which one the client named.
    unzip(bytes, { maxOutputLength }, (error, expanded) => {
      this.isExpanding = false;
      if (this.isEnded) return;
      if (error !== null) return this.fault({ kind: "bad-compression", reason: errorText(error) });
      this.sink.message(expanded);
      if (!this.isPausedBySink) this.resume();
    });
  }

  private fault(fault: CallFault): void {
    if (!this.isEnded) this.sink.fault(fault);
  }
}
