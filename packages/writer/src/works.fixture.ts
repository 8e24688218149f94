import type { IBatchRequest, IOpenRequest, IRows } from "@millrace/proto/pipeline";
import { Flow, InboxItem } from "./inbox-flow.ts";
import type { Task } from "./verdict.ts";
import {
  flowOf,
  identityOf,
  type Reply,
  readBatchRequest,
  readOpenRequest,
  sizeOf,
  type Work,
} from "./work.ts";

/** A stream as tests name it. Owner and HMAC are any text. */
export interface StreamOptions {
  readonly project?: string;
  readonly invocation?: string;
  readonly owner?: string;
  readonly hmac?: string;
  readonly buildId?: string;
  readonly node?: string;
}

export interface BatchOptions extends StreamOptions {
  readonly first: number;
  readonly last: number;
  /** Left out: the batch opens the stream. */
  readonly attemptId?: number;
  readonly rows?: IRows;
  readonly ends?: boolean;
  readonly log?: { firstByte: number; byteCount: number; lines?: number };
  readonly undecoded?: number;
  /** The compressed events; left out: a few words. */
  readonly events?: Uint8Array;
}

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

export function hexOfText(text: string): string {
  return Buffer.from(text, "utf8").toString("hex");
}

export function batchMessage(options: BatchOptions): IBatchRequest {
  const { first, last, log } = options;
  const logEnd = log === undefined ? 0 : log.firstByte + log.byteCount;
  return {
    key: keyOf(options),
    attemptId: options.attemptId ?? 0,
    owner: bytesOf(options.owner ?? "owner"),
    ...(options.attemptId === undefined ? { open: openMessage({ ...options, first }) } : {}),
    firstSequence: first,
    lastSequence: last,
    events: { data: options.events ?? bytesOf(`events ${first} to ${last}`), rawBytes: 100 },
    ...(log === undefined
      ? {}
      : {
          log: {
            data: bytesOf("log"),
            firstByte: log.firstByte,
            byteCount: log.byteCount,
            firstLine: 0,
            lineCount: log.lines ?? 0,
          },
        }),
    carry: { logBytes: logEnd, logLines: log?.lines ?? 0, scrub: bytesOf(`after ${last}`) },
    ...(options.rows === undefined ? {} : { rows: options.rows }),
    endsStream: options.ends ?? false,
    undecoded: options.undecoded ?? 0,
  };
}

export function batchWork(options: BatchOptions): Work {
  return readBatchRequest(batchMessage(options));
}

export function openRequest(options: StreamOptions & { first: number }): IOpenRequest {
  return { open: openMessage(options) };
}

export function openWork(options: StreamOptions & { first: number }): Work {
  return readOpenRequest(openRequest(options));
}

export function releaseWork(attemptId: number, owner = "owner"): Work {
  return readOpenRequest({ release: { attemptId, owner: bytesOf(owner) } });
}

function keyOf(options: StreamOptions): { project: string; invocationId: string } {
  return { project: options.project ?? "default", invocationId: options.invocation ?? "invocation" };
}

function openMessage(options: StreamOptions & { first: number }) {
  return {
    key: keyOf(options),
    owner: bytesOf(options.owner ?? "owner"),
    firstSequence: options.first,
    firstEventHmac: bytesOf(options.first === 1 ? (options.hmac ?? "hmac") : ""),
    buildId: options.buildId ?? "build",
    node: options.node ?? "node",
  };
}

/** A work on its way through a transaction, without an inbox around it. */
export interface TestTask extends Task {
  /** What it was answered, in JSON's terms; undefined while it is not. */
  reply(): Reply | undefined;
}

export function taskOf(work: Work): TestTask {
  const flow = new Flow(flowOf(work).project, flowOf(work).flow);
  const item = new InboxItem(
    { work, identity: identityOf(work), bytes: sizeOf(work), flow, askedAt: 0 },
    () => {},
  );
  let reply: Reply | undefined;
  item.ask(0, (given) => {
    reply = given;
  });
  return { item, reply: () => reply };
}
