import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { MillraceError } from "@millrace/base/errors";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import { readFrames } from "@millrace/proto/bep/frames";
import { convertJsonEvent } from "@millrace/proto/bep/ndjson";
import { readConnectionIdentity } from "@millrace/proto/bes/identity";
import { peekRequest } from "@millrace/proto/bes/peek";
import { EventTimes } from "./event-times.ts";
import { messageBytesMax, readBytes, recognize } from "./recording.ts";
import { finishedEvent, wrapBepEvent } from "./requests.ts";

/** One event of a recording, ready to be sent. */
export interface RecordedEvent {
  /** As the recording numbers it, from 1. */
  readonly sequence: number;
  /** A google.devtools.build.v1.BuildEvent. */
  readonly event: Uint8Array;
  /** When it happened, in milliseconds since the epoch; undefined when the recording does not say. */
  readonly atMs: number | undefined;
  /** With the first event of a stream. */
  readonly keywords: readonly string[];
}

/** Under which names the recording was sent; undefined where it does not say. */
export interface RecordedNames {
  readonly buildId: string | undefined;
  readonly invocationId: string | undefined;
  readonly projectId: string;
}

/** The events of one file, in order. */
export interface RecordedStream {
  readonly names: RecordedNames;
  /** Can be read once. */
  readonly events: AsyncIterable<RecordedEvent>;
}

/** Opens a recording. Fails with a sentence when it is none; a fault further on fails the reading of its events. */
export async function openRecordedStream(file: string): Promise<RecordedStream> {
  const kind = await recognize(file);
  if (kind === "requests") return openRequests(file);
  const payloads = kind === "bep" ? framesOf(file) : jsonEvents(file);
  return openBep(payloads);
}

async function openRequests(file: string): Promise<RecordedStream> {
  const requests = framesOf(file);
  const first = await requests.next();
  const identity = first.done === true ? undefined : readConnectionIdentity(first.value);
  if (first.done === true || identity?.kind !== "identity") throw broken(file, "it holds no request");
  async function* events(start: Uint8Array): AsyncGenerator<RecordedEvent> {
    yield eventOf(file, start);
    for await (const request of requests) yield eventOf(file, request);
  }
  const { buildId, invocationId } = identity.streamId;
  return { names: { buildId, invocationId, projectId: identity.projectId }, events: events(first.value) };
}

function eventOf(file: string, request: Uint8Array): RecordedEvent {
  const peeked = peekRequest(request);
  if (peeked.kind === "malformed") throw broken(file, peeked.reason);
  const identity = readConnectionIdentity(request);
  const event = peeked.bytes.subarray(peeked.eventStart, peeked.eventEnd);
  const envelope = readEnvelope(event);
  return {
    sequence: peeked.sequence,
    event,
    atMs: "eventTimeMs" in envelope ? envelope.eventTimeMs : undefined,
    keywords: identity.kind === "identity" ? identity.keywords : [],
  };
}

/** A file of BEP holds neither numbers nor the end of the stream: both are as Bazel would have sent them. */
async function openBep(payloads: AsyncGenerator<Uint8Array>): Promise<RecordedStream> {
  const times = new EventTimes();
  const first = await payloads.next();
  const start = first.done === true ? new Uint8Array(0) : first.value;
  const startMs = times.after(start);
  const keywords = ["protocol_name=BEP", ...(times.command === "" ? [] : [`command_name=${times.command}`])];
  async function* events(): AsyncGenerator<RecordedEvent> {
    let sequence = 1;
    let atMs = startMs;
    yield { sequence, event: wrapBepEvent(start, atMs ?? 0), atMs, keywords };
    for await (const payload of payloads) {
      atMs = times.after(payload);
      sequence += 1;
      yield { sequence, event: wrapBepEvent(payload, atMs ?? 0), atMs, keywords: [] };
    }
    yield { sequence: sequence + 1, event: finishedEvent(atMs ?? 0), atMs, keywords: [] };
  }
  const invocationId = times.invocationId === "" ? undefined : times.invocationId;
  return { names: { buildId: undefined, invocationId, projectId: "" }, events: events() };
}

async function* framesOf(file: string): AsyncGenerator<Uint8Array> {
  for await (const frame of readFrames(readBytes(file), { messageBytesMax })) {
    if (frame.kind === "broken") throw broken(file, frame.message);
    yield frame.bytes;
  }
}

async function* jsonEvents(file: string): AsyncGenerator<Uint8Array> {
  let number = 0;
  for await (const line of createInterface({ input: Readable.from(readBytes(file)) })) {
    number += 1;
    if (line.trim() === "") continue;
    const converted = convertJsonEvent(line);
    if (converted.kind === "broken")
      throw broken(file, `line ${number} is no build event (${converted.reason})`);
    yield converted.bytes;
  }
}

function broken(file: string, why: string): MillraceError {
  return new MillraceError({
    remedy: "reject",
    code: "broken-recording",
    message: `${file} is damaged: ${why}`,
  });
}
