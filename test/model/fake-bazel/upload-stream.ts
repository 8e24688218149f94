import { type Clock, delay } from "@millrace/base/clock";
import { AckReader } from "./ack-reader.ts";
import {
  type BesChannel,
  type BesStream,
  type CallStatus,
  type Headers,
  statusCode,
  streamPath,
} from "./bes-channel.ts";
import { EventPace } from "./event-pace.ts";
import {
  persistentExitCode,
  type RetryPolicy,
  transientExitCode,
  type UploadFailure,
} from "./retry-policy.ts";
import type { UploadQueue } from "./upload-queue.ts";

/** What an upload did. */
export interface UploadReport {
  /** First sequence number of each stream that was opened; 0 for one on which nothing was sent. */
  readonly streams: readonly number[];
  readonly sent: number;
  /** Of those, events that an earlier stream had sent already. */
  readonly resent: number;
  readonly acked: number;
  /** What each event waited for its ack, in the order of the events; empty when they are not kept. */
  readonly ackLatenciesMs: readonly number[];
  /** Waits before another stream, as they were taken. */
  readonly retryDelaysMs: readonly number[];
}

export const nothingUploaded: UploadReport = {
  streams: [],
  sent: 0,
  resent: 0,
  acked: 0,
  ackLatenciesMs: [],
  retryDelaysMs: [],
};

export type UploadOutcome =
  | { readonly kind: "done" }
  | ({ readonly kind: "failed" } & UploadFailure)
  | { readonly kind: "died" };

/** How one stream ended. */
type StreamEnd =
  | { readonly kind: "status"; readonly status: CallStatus }
  | { readonly kind: "fault"; readonly message: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "died" };

export interface UploadSettings {
  readonly gapMs?: number;
  readonly paceUntilMs?: number;
  readonly keepLatencies?: boolean;
  readonly timeoutMs?: number;
  readonly cutAfter?: readonly number[];
  readonly diesAfter?: number;
  readonly beforeEvent?: (sequence: number) => void | Promise<void>;
  readonly onAck?: (sequence: number, latencyMs: number) => void;
}

export interface Upload {
  readonly queue: UploadQueue;
  readonly clock: Clock;
  readonly channel: BesChannel;
  readonly headers: Headers;
  readonly retries: RetryPolicy;
  readonly options: UploadSettings;
}

/** Uploads the queue over as many streams as it takes. */
export async function uploadStream(
  upload: Upload,
): Promise<{ outcome: UploadOutcome; report: UploadReport }> {
  const uploader = new Uploader(upload);
  const outcome = await uploader.run();
  return { outcome, report: uploader.report() };
}

class Uploader {
  private readonly upload: Upload;
  private readonly ackReader = new AckReader();
  private readonly pace: EventPace;
  private readonly cutsLeft: Set<number>;
  private readonly streams: number[] = [];
  private readonly ackLatenciesMs: number[] = [];
  private readonly retryDelaysMs: number[] = [];
  private sent = 0;
  private resent = 0;
  private deadlineMs: number | undefined;

  constructor(upload: Upload) {
    this.upload = upload;
    this.cutsLeft = new Set(upload.options.cutAfter);
    const { gapMs = 0, paceUntilMs = Number.POSITIVE_INFINITY } = upload.options;
    this.pace = new EventPace({ clock: upload.clock, gapMs, untilMs: paceUntilMs });
  }

  report(): UploadReport {
    const { streams, sent, resent, ackLatenciesMs, retryDelaysMs } = this;
    return { streams, sent, resent, acked: this.upload.queue.ackedCount, ackLatenciesMs, retryDelaysMs };
  }

  async run(): Promise<UploadOutcome> {
    const { queue, clock, retries } = this.upload;
    for (;;) {
      const end = await this.runStream();
      const outcome = this.judge(end);
      if (outcome !== undefined) return outcome;
      const decision = retries.decide(end.kind === "status" ? end.status : { code: 0, message: "" });
      if (decision.kind === "give-up") return { ...decision, kind: "failed" };
      this.retryDelaysMs.push(decision.delayMs);
      queue.startOver();
      await delay(clock, decision.delayMs);
    }
  }

  /** What the end of a stream means; undefined when it is for the retry policy to say. */
  private judge(end: StreamEnd): UploadOutcome | undefined {
    const { queue } = this.upload;
    const failed = (exitCode: number, message: string) => ({ kind: "failed" as const, exitCode, message });
    if (end.kind === "died") return { kind: "died" };
    if (end.kind === "timeout") return failed(transientExitCode, "The Build Event Protocol upload timed out");
    if (end.kind === "fault") return failed(persistentExitCode, end.message);
    const isComplete = queue.allIsSent && queue.unackedCount === 0;
    if (end.status.code !== 0) {
      const afterAll = `BES_STREAM_COMPLETED_WITH_REMOTE_ERROR: code ${end.status.code}: ${end.status.message}`;
      return isComplete ? failed(persistentExitCode, afterAll) : undefined;
    }
    if (isComplete) return { kind: "done" };
    const what = queue.allIsSent
      ? `not all ACKs have been received (ackQueue=${queue.unackedCount})`
      : `not all events have been sent (ackQueue=${queue.unackedCount})`;
    return failed(persistentExitCode, `Server closed stream with status OK but ${what}`);
  }

  private runStream(): Promise<StreamEnd> {
    const { channel, headers } = this.upload;
    this.streams.push(0);
    return new Promise((resolve) => {
      const state = new OneStream(resolve);
      const stream = channel.openStream({
        path: streamPath,
        headers,
        events: {
          onMessage: (message) => this.receive(message, stream, state),
          onEnd: (status) => state.finish({ kind: "status", status }),
        },
      });
      void this.send(stream, state);
    });
  }

  private receive(message: Uint8Array, stream: BesStream, state: OneStream): void {
    if (state.isOver) return;
    const { queue, clock, retries, options } = this.upload;
    const sequence = this.ackReader.read(message);
    if (sequence === undefined) {
      stream.cancel();
      state.finish({
        kind: "status",
        status: { code: statusCode.internal, message: "Invalid protobuf byte sequence" },
      });
      return;
    }
    const waited = queue.acknowledge(sequence, clock.monotonic());
    if (typeof waited !== "number") {
      stream.cancel();
      state.finish({ kind: "fault", message: waited.fault });
      return;
    }
    retries.sawAck();
    if (options.keepLatencies !== false) this.ackLatenciesMs.push(waited);
    options.onAck?.(sequence, waited);
  }

  private async send(stream: BesStream, state: OneStream): Promise<void> {
    const { queue, clock, channel, options } = this.upload;
    const { pace } = this;
    for (;;) {
      if (!pace.isFlatOut && !queue.allIsSent) await pace.next();
      if (options.beforeEvent !== undefined && !queue.allIsSent)
        await options.beforeEvent(queue.nextSequence);
      if (state.isOver) return;
      const nowMs = clock.monotonic();
      const next = queue.takeNext({ nowMs, dueMs: pace.dueMs ?? nowMs });
      if (next === undefined) break;
      const hasRoom = stream.write(next.request);
      this.count(next);
      const dies = next.sequence === options.diesAfter;
      if (dies || this.cutsLeft.delete(next.sequence)) {
        await stream.flushed();
        if (dies) state.finish({ kind: "died" });
        channel.cut();
        return;
      }
      if (!hasRoom) await stream.drained();
    }
    stream.halfClose();
    this.armTimeout(stream, state);
  }

  private count(next: { sequence: number; again: boolean }): void {
    this.sent += 1;
    if (next.again) this.resent += 1;
    if (this.streams.at(-1) === 0) this.streams[this.streams.length - 1] = next.sequence;
  }

  /** --bes_timeout: Bazel waits so long from the end of the build, over all streams. */
  private armTimeout(stream: BesStream, state: OneStream): void {
    const { clock, options } = this.upload;
    if (options.timeoutMs === undefined || state.isOver) return;
    this.deadlineMs ??= clock.monotonic() + options.timeoutMs;
    state.disarm = clock.after(Math.max(0, this.deadlineMs - clock.monotonic()), () => {
      stream.cancel();
      state.finish({ kind: "timeout" });
    });
  }
}

/** Whether the stream at hand is over; it ends once. */
class OneStream {
  isOver = false;
  disarm = (): void => {};
  private readonly resolve: (end: StreamEnd) => void;

  constructor(resolve: (end: StreamEnd) => void) {
    this.resolve = resolve;
  }

  finish(end: StreamEnd): void {
    this.isOver = true;
    this.disarm();
    this.resolve(end);
  }
}
