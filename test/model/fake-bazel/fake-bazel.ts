import { type Clock, delay, systemClock } from "@millrace/base/clock";
import { type BesChannel, type CallStatus, type Headers, lifecyclePath } from "./bes-channel.ts";
import { openGrpcChannel } from "./grpc-channel.ts";
import { openHttp2Channel } from "./http2-channel.ts";
import {
  encodeLifecycle,
  type LifecycleStep,
  requestsOfPayloads,
  requestsOfRecording,
  usualKeywords,
} from "./requests.ts";
import { persistentExitCode, RetryPolicy, type UploadFailure } from "./retry-policy.ts";
import { type LatencyStart, type RequestSource, UploadQueue } from "./upload-queue.ts";
import { nothingUploaded, type UploadReport, uploadStream } from "./upload-stream.ts";

/** What FakeBazel uploads: BEP payloads (the end of the stream is added), or recorded requests under other names. */
export type FakeBuild =
  | { readonly payloads: Iterable<Uint8Array> }
  | { readonly recording: Iterable<Uint8Array> };

export interface FakeBazelOptions {
  /** `host:port`, plain HTTP/2. */
  readonly address: string;
  readonly build: FakeBuild;
  readonly buildId: string;
  readonly invocationId: string;
  /** --bes_instance_name */
  readonly projectId?: string;
  /** Value of --bes_header=x-api-key=… */
  readonly apiKey?: string;
  readonly keywords?: readonly string[];
  /** Milliseconds from one event to the next; 0 is flat out. */
  readonly gapMs?: number;
  /** The clock's monotonic time until which the gap holds; then the rest is sent flat out. */
  readonly paceUntilMs?: number;
  /** Payloads only: event k has the event time `startMs + k` instead of the clock's, so that its bytes are known. */
  readonly startMs?: number;
  /** `last-sending` by default. */
  readonly latencyStart?: LatencyStart;
  /** Whether the report lists the latencies; true by default. */
  readonly keepLatencies?: boolean;
  /** --bes_lifecycle_events */
  readonly lifecycle?: boolean;
  /** --bes_timeout, counted from the end of the build; none by default. */
  readonly timeoutMs?: number;
  /** Exit code of the build itself. */
  readonly buildExitCode?: number;
  /** 1 waits as Bazel does between tries, 0 not at all. */
  readonly retryDelayScale?: number;
  /** The TCP connection is cut after each of these events was sent, once each. */
  readonly cutAfter?: readonly number[];
  /** The Bazel server is killed after this event was sent: the connection ends, nothing more is called. */
  readonly diesAfter?: number;
  /** `grpc-js` is the stock client, `http2` a cheap one for load. */
  readonly transport?: "grpc-js" | "http2";
  readonly clock?: Clock;
  /** Called before an event is sent; a test hooks its faults here. */
  readonly beforeEvent?: (sequence: number) => void | Promise<void>;
  readonly onAck?: (sequence: number, latencyMs: number) => void;
}

export interface FakeBazelReport extends UploadReport {
  /** 0, the build's own, 38 (transient), 45 (persistent) or 37 (died). */
  readonly exitCode: number;
  /** What Bazel prints about a failed upload; "" when it went well. */
  readonly message: string;
  readonly lifecycleCalls: readonly { readonly step: LifecycleStep; readonly code: number }[];
}

// A lifecycle call has 15 s (bes-client.md §0.5).
const lifecycleDeadlineMs = 15_000;
const serverDiedExitCode = 37;

/**
 * Uploads one build as Bazel 7.7.1 does (bes-client.md §1): the lifecycle calls in their order, the stream, half-close,
 * retries, and its opinions about acks. Resolves when Bazel would exit; never rejects for what the server does.
 */
export async function runFakeBazel(options: FakeBazelOptions): Promise<FakeBazelReport> {
  const channel = await openChannel(options);
  try {
    return await new FakeBazel(options, channel).run();
  } finally {
    await channel.close();
  }
}

async function openChannel({
  transport,
  address,
  cutAfter,
  diesAfter,
}: FakeBazelOptions): Promise<BesChannel> {
  if (transport === "http2") return openHttp2Channel(address);
  return await openGrpcChannel(address, { cuttable: cutAfter !== undefined || diesAfter !== undefined });
}

class FakeBazel {
  private readonly options: FakeBazelOptions;
  private readonly channel: BesChannel;
  private readonly clock: Clock;
  private readonly names;
  private readonly headers: Headers;
  private readonly lifecycleCalls: { step: LifecycleStep; code: number }[] = [];

  constructor(options: FakeBazelOptions, channel: BesChannel) {
    this.options = options;
    this.channel = channel;
    this.clock = options.clock ?? systemClock;
    this.headers = options.apiKey === undefined ? {} : { "x-api-key": options.apiKey };
    this.names = {
      buildId: options.buildId,
      invocationId: options.invocationId,
      projectId: options.projectId ?? "",
      keywords: options.keywords ?? usualKeywords,
    };
  }

  async run(): Promise<FakeBazelReport> {
    const { clock, channel, headers, options } = this;
    const queue = new UploadQueue(this.requests(), options.latencyStart ?? "last-sending");
    const failedStart = (await this.call("build-enqueued")) ?? (await this.call("attempt-started"));
    if (failedStart !== undefined) return this.report(nothingUploaded, failedStart);
    const upload = await uploadStream({ queue, clock, channel, headers, retries: this.retries(), options });
    if (upload.outcome.kind === "died") {
      return this.report(upload.report, { exitCode: serverDiedExitCode, message: "the Bazel server died" });
    }
    // From a `finally` in Bazel: also after a failed stream.
    const failedEnd = (await this.call("attempt-finished")) ?? (await this.call("build-finished"));
    return this.report(upload.report, upload.outcome.kind === "failed" ? upload.outcome : failedEnd);
  }

  private requests(): RequestSource {
    const { names, clock } = this;
    const { build, startMs } = this.options;
    if ("recording" in build) return requestsOfRecording(build.recording, names);
    return requestsOfPayloads(build.payloads, startMs === undefined ? { names, clock } : { names, startMs });
  }

  private retries(): RetryPolicy {
    return new RetryPolicy(this.options.retryDelayScale ?? 1);
  }

  /** Makes a lifecycle call, with retries; answers why the upload fails, or undefined. */
  private async call(step: LifecycleStep): Promise<UploadFailure | undefined> {
    if (this.options.lifecycle === false) return undefined;
    const result = (this.options.buildExitCode ?? 0) === 0 ? 1 : 2;
    const message = encodeLifecycle(step, { names: this.names, nowMs: this.clock.now(), result });
    const retries = this.retries();
    for (;;) {
      const status = await this.tryCall(step, message);
      if (status.code === 0) return undefined;
      const decision = retries.decide(status);
      if (decision.kind === "give-up" && decision.exitCode === persistentExitCode) return decision;
      // Bazel sleeps after the last try as well.
      await delay(this.clock, decision.delayMs);
      if (decision.kind === "give-up") return decision;
    }
  }

  private async tryCall(step: LifecycleStep, message: Uint8Array): Promise<CallStatus> {
    const { headers } = this;
    const request = { path: lifecyclePath, message, headers, deadlineMs: lifecycleDeadlineMs };
    const status = await this.channel.call(request);
    this.lifecycleCalls.push({ step, code: status.code });
    return status;
  }

  private report(upload: UploadReport, failure: UploadFailure | undefined): FakeBazelReport {
    return {
      ...upload,
      exitCode: failure?.exitCode ?? this.options.buildExitCode ?? 0,
      message: failure?.message ?? "",
      lifecycleCalls: this.lifecycleCalls,
    };
  }
}
