import {
  classifyArrival,
  markCommitted,
  markSeen,
  type StreamPosition,
  startOfConnection,
  takeAcks,
} from "@millrace/actors/core/position";
import { FrontDoor, type FrontDoorPorts } from "@millrace/actors/front-door/front-door";
import type { Ingest, IngestListener, Lane } from "@millrace/actors/front-door/ingest";
import { noReach } from "@millrace/actors/front-door/reach";
import { endStatus, eventOverheadBytes } from "@millrace/actors/thread-messages";
import type { Clock } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import { noFailPoints } from "@millrace/base/fail-points";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import type { PeekedRequest } from "@millrace/proto/bes/peek";
import type { Bus } from "@millrace/proto/bus";
import { keyLookupChannel, lifecycleChannel } from "@millrace/proto/channels";
import type { Capture } from "./capture.ts";
import { EventFile } from "./event-file.ts";

const MiB = 1 << 20;
/** After Bazel's end: for a connection that is still saying goodbye. */
const drainDeadlineMs = 2_000;

/** What the stream of the one invocation has come to, over all its connections. */
interface StreamFile {
  readonly file: EventFile;
  committed: number;
  fault: string;
  isFinished: boolean;
}

/**
 * A Build Event Service on a loopback port for one invocation: the front door and the position rules of the server, with a
 * file where the server has writers. An event is acknowledged when its bytes are in `events.bep`.
 */
export async function besCapture(at: {
  events: string;
  clock: Clock;
  random: Random;
  log: Log;
}): Promise<Capture> {
  const stream: StreamFile = { file: new EventFile(at.events), committed: 0, fault: "", isFinished: false };
  const ingest: Ingest & { drain(deadlineMs: number): Promise<void> } = {
    connect: (start, listener) => new FileLane(stream, { first: start.firstSequence, listener }),
    whenUp: (_invocation, action) => {
      action();
      return () => {};
    },
    drain: async () => {},
  };
  const { clock, random, log } = at;
  // No shortcut below gRPC: one local stream has no need of it.
  const ports: FrontDoorPorts = {
    clock,
    random,
    log,
    bus: openBus,
    ingest,
    reach: noReach,
    points: noFailPoints,
  };
  const door = new FrontDoor(doorSettings, ports);
  const port = await door.start();
  return {
    target: { kind: "bes", backend: `grpc://127.0.0.1:${port}` },
    reducer: stream.file.reducer,
    get bytes() {
      return stream.file.bytes;
    },
    get fault() {
      if (stream.fault !== "") return stream.fault;
      return stream.isFinished ? "" : "the stream broke off before its end";
    },
    advance: async () => {},
    finish: async () => {
      await door.drain();
      stream.file.close();
    },
  };
}

/** One connection's way into the file. What comes in one turn of the event loop is written at once. */
class FileLane implements Lane {
  private readonly stream: StreamFile;
  private readonly listener: IngestListener;
  private position: StreamPosition;
  private waiting: { readonly sequence: number; readonly bytes: Uint8Array | undefined }[] = [];
  private cost = 0;
  private isFlushAsked = false;
  private isOver = false;
  private hasHalfClosed = false;

  constructor(stream: StreamFile, start: { first: number; listener: IngestListener }) {
    this.stream = stream;
    this.listener = start.listener;
    this.position = markCommitted(startOfConnection(start.first), stream.committed);
  }

  event(request: PeekedRequest): void {
    const { sequence } = request;
    this.cost += request.eventEnd - request.eventStart + eventOverheadBytes;
    this.flushSoon();
    const arrival = classifyArrival(this.position, sequence);
    if (arrival.kind === "gap") {
      return this.end(
        endStatus.failedPrecondition,
        `event ${sequence} came where ${arrival.expected} was expected`,
      );
    }
    if (arrival.kind === "repeat") {
      if (sequence <= this.position.acked) this.listener.ackedAgain(sequence);
      return;
    }
    this.position = markSeen(this.position, sequence);
    if (arrival.kind === "new") this.waiting.push({ sequence, bytes: this.payloadOf(request) });
  }

  private payloadOf(request: PeekedRequest): Uint8Array | undefined {
    const envelope = readEnvelope(request.bytes.subarray(request.eventStart, request.eventEnd));
    if (envelope.kind === "malformed") {
      this.stream.fault = `an event cannot be read: ${envelope.reason}`;
      return undefined;
    }
    if (envelope.kind === "stream-finished") this.stream.isFinished = true;
    return envelope.kind === "bazel" && envelope.typeUrlOk
      ? envelope.bytes.subarray(envelope.payloadStart, envelope.payloadEnd)
      : undefined;
  }

  halfClosed(): void {
    this.hasHalfClosed = true;
    this.flush();
  }

  broken(): void {
    this.flush();
    this.isOver = true;
  }

  close(): void {
    this.isOver = true;
  }

  private flushSoon(): void {
    if (this.isFlushAsked) return;
    this.isFlushAsked = true;
    setImmediate(() => {
      this.isFlushAsked = false;
      this.flush();
    });
  }

  private flush(): void {
    const events = this.waiting;
    this.waiting = [];
    try {
      this.stream.file.appendMessages(events.flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes])));
    } catch (error) {
      this.stream.fault = errorText(error);
      return this.end(endStatus.failedPrecondition, `the events cannot be stored: ${this.stream.fault}`);
    }
    const last = events.at(-1)?.sequence ?? 0;
    this.stream.committed = Math.max(this.stream.committed, last);
    const acks = takeAcks(markCommitted(this.position, this.stream.committed));
    this.position = acks.position;
    const released = this.cost;
    this.cost = 0;
    if (this.isOver) return;
    this.listener.acked(this.position.acked, released);
    if (this.hasHalfClosed && this.position.acked === this.position.seen) this.end(endStatus.ok, "");
  }

  private end(status: Parameters<IngestListener["ended"]>[0], message: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.listener.ended(status, message);
  }
}

const doorSettings = {
  grpc: {
    host: "127.0.0.1",
    port: 0,
    messageBytesMax: 100 * MiB,
    streamWindowBytes: MiB,
    tlsCertificate: "",
    tlsKey: "",
    tlsClientCa: "",
  },
  budget: {
    streamBytesMax: 8 * MiB,
    projectBytesMax: 384 * MiB,
    sharedBytesMax: 64 * MiB,
    processBytesMax: 512 * MiB,
    largeBytesMax: 192 * MiB,
  },
  outageHoldMaxMs: 10_000,
  drainDeadlineMs,
};

/** Stands where the server asks its writers: everybody on the loopback interface may publish, lifecycle calls are taken. */
const openBus: Pick<Bus, "request"> = {
  request: (channel, _ask) => {
    if (channel.name === keyLookupChannel.name) {
      const grant = { known: true, project: "local", scopes: ["ingest"], serverSecret: new Uint8Array(32) };
      return Promise.resolve(channel.reply.decode(keyLookupChannel.reply.encode(grant)));
    }
    if (channel.name === lifecycleChannel.name) {
      return Promise.resolve(channel.reply.decode(lifecycleChannel.reply.encode({})));
    }
    const message = `nobody serves ${channel.name} here`;
    return Promise.reject(new MillraceError({ remedy: "retry", code: "mcp-no-writers", message }));
  },
};
