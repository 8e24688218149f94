import { status } from "@grpc/grpc-js";
import { type Clock, delay } from "@millrace/base/clock";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import type { BesClient, BesStream, CallEnd } from "./bes-client.ts";
import { resultAfter } from "./build-result.ts";
import type { Pace } from "./pace.ts";
import type { RecordedEvent } from "./recorded-stream.ts";
import {
  type BuildResult,
  encodeEventRequest,
  encodeLifecycle,
  type LifecycleStep,
  type StreamNames,
} from "./requests.ts";
import { SentEvents } from "./sent-events.ts";

/** What became of an upload. */
export interface UploadReport {
  /** Events of the recording that were sent; one that was sent again counts once. */
  readonly events: number;
  readonly acked: number;
  /** How often the stream was opened again after a failure. */
  readonly resumed: number;
  /** Whether the recording goes on to the end of its stream; a build that was killed has none. */
  readonly hasEnd: boolean;
  /** A sentence; undefined when every event was acknowledged and all calls ended well. */
  readonly failure: string | undefined;
}

export interface UploadJob {
  readonly client: BesClient;
  readonly names: StreamNames;
  readonly events: AsyncIterable<RecordedEvent>;
  /** Numbers from 1, whatever the recording says. */
  readonly renumbers: boolean;
  readonly pace: Pace;
  readonly clock: Clock;
}

/** As Bazel does: four retries, and all four anew whenever an acknowledgement came. */
const retriesMax = 4;
const firstRetryDelayMs = 1_000;
const retryGrowth = 1.6;

/** Bazel holds any number of unacknowledged events; we wait at so many bytes. */
const unackedBytesMax = 64 * 1024 * 1024;

/** Nothing is retried after these. */
const finalCodes: ReadonlySet<number> = new Set([status.INVALID_ARGUMENT, status.FAILED_PRECONDITION]);

/** Sends one stream with its lifecycle calls and goes on after failures, as Bazel does. Used once. */
export class Upload {
  readonly #job: UploadJob;
  readonly #events: AsyncIterator<RecordedEvent>;
  readonly #sent = new SentEvents();
  #next: RecordedEvent | undefined;
  #sentCount = 0;
  #acked = 0;
  #streams = 0;
  #retries = 0;
  #hasEnd = false;
  #result: BuildResult = "unknown";
  #latestAtMs = 0;
  #keywords: readonly string[] = [];
  /** Called when an acknowledgement came or the stream ended. */
  #onProgress: () => void = () => {};

  constructor(job: UploadJob) {
    this.#job = job;
    this.#events = job.events[Symbol.asyncIterator]();
  }

  /** Resolves when there is nothing left to do, one way or the other. Rejects when the recording is damaged. */
  async run(): Promise<UploadReport> {
    await this.#read();
    this.#keywords = this.#next?.keywords ?? [];
    const failed = (await this.#tell(["build-enqueued", "attempt-started"])) ?? (await this.#streamToEnd());
    // A Bazel that was killed says nothing more.
    const isOver = this.#hasEnd || failed !== undefined;
    const alsoFailed = isOver ? await this.#tell(["attempt-finished", "build-finished"]) : undefined;
    return {
      events: this.#sentCount,
      acked: this.#acked,
      resumed: Math.max(0, this.#streams - 1),
      hasEnd: this.#hasEnd,
      failure: failed ?? alsoFailed,
    };
  }

  /** Makes lifecycle calls; answers what failed. */
  async #tell(steps: readonly LifecycleStep[]): Promise<string | undefined> {
    const { client, names, clock } = this.#job;
    for (const step of steps) {
      const [keywords, result, atMs] = [this.#keywords, this.#result, this.#latestAtMs];
      const request = encodeLifecycle({ step, names, keywords, result, atMs });
      for (let retry = 0; ; retry++) {
        const end = await client.lifecycle(request);
        if (end.code === status.OK) break;
        if (finalCodes.has(end.code) || retry === retriesMax)
          return `the call ${step} failed: ${describe(end)}`;
        await delay(clock, retryDelayMs(retry));
      }
    }
    return undefined;
  }

  /** Opens streams until one brought everything over; answers why none did. */
  async #streamToEnd(): Promise<string | undefined> {
    for (;;) {
      const end = await this.#streamOnce();
      if (end.kind === "done") return undefined;
      if (end.kind === "failed") return end.why;
      if (this.#retries === retriesMax) return `gave up after ${retriesMax} retries: ${describe(end.end)}`;
      await delay(this.#job.clock, retryDelayMs(this.#retries));
      this.#retries += 1;
    }
  }

  async #streamOnce(): Promise<StreamOutcome> {
    let wrong: string | undefined;
    let isOver = false;
    this.#streams += 1;
    const stream = this.#job.client.openStream((sequence) => {
      wrong ??= this.#sent.ack(sequence);
      if (wrong !== undefined) return stream.cancel();
      this.#acked += 1;
      this.#retries = 0;
      this.#onProgress();
    });
    void stream.ended.then(() => {
      isOver = true;
      this.#onProgress();
    });
    await this.#sendTo(stream, () => isOver);
    const end = await stream.ended;
    if (wrong !== undefined) return { kind: "failed", why: wrong };
    return this.#judge(end, this.#next === undefined && this.#sent.count === 0);
  }

  #judge(end: CallEnd, isComplete: boolean): StreamOutcome {
    if (end.code === status.OK) {
      if (isComplete) return { kind: "done" };
      return {
        kind: "failed",
        why: `the server ended the stream with ${this.#sent.count} events unacknowledged`,
      };
    }
    if (isComplete) {
      return {
        kind: "failed",
        why: `everything is acknowledged, yet the stream ended with ${describe(end)}`,
      };
    }
    return finalCodes.has(end.code) ? { kind: "failed", why: describe(end) } : { kind: "again", end };
  }

  /** Sends what is unacknowledged and then what is left, until all is sent or the stream is over. */
  async #sendTo(stream: BesStream, isOver: () => boolean): Promise<void> {
    for (const { request } of this.#sent.all()) {
      if (isOver()) return;
      await stream.send(request);
    }
    for (;;) {
      const next = this.#next;
      if (next === undefined) break;
      await Promise.race([this.#job.pace.until(next.atMs), stream.ended]);
      await this.#waitForRoom(isOver);
      if (isOver()) return;
      await stream.send(this.#take(next));
      await this.#read();
    }
    if (!isOver()) stream.halfClose();
  }

  async #waitForRoom(isOver: () => boolean): Promise<void> {
    while (this.#sent.bytes > unackedBytesMax && !isOver()) {
      await new Promise<void>((resolve) => {
        this.#onProgress = resolve;
      });
    }
  }

  #take(next: RecordedEvent): Buffer {
    this.#sentCount += 1;
    const sequence = this.#job.renumbers ? this.#sentCount : next.sequence;
    const keywords = sequence === 1 ? this.#keywords : [];
    const request = encodeEventRequest({ names: this.#job.names, sequence, event: next.event, keywords });
    this.#sent.add({ sequence, request });
    this.#result = resultAfter(next.event) ?? this.#result;
    this.#hasEnd ||= readEnvelope(next.event).kind === "stream-finished";
    return request;
  }

  async #read(): Promise<void> {
    const read = await this.#events.next();
    this.#next = read.done === true ? undefined : read.value;
    this.#latestAtMs = this.#next?.atMs ?? this.#latestAtMs;
  }
}

type StreamOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly end: CallEnd }
  | { readonly kind: "failed"; readonly why: string };

function retryDelayMs(retry: number): number {
  return firstRetryDelayMs * retryGrowth ** retry;
}

function describe({ code, details }: CallEnd): string {
  return `${status[code] ?? `code ${code}`}${details === "" ? "" : ` (${details})`}`;
}
