import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { systemClock } from "@millrace/base/clock";
import { encodeLength } from "@millrace/proto/bep/frames";
import { EventEncoder } from "../model/fake-bazel/event-encoder.ts";
import { GrpcUnframer, grpcPrefix } from "../model/fake-bazel/grpc-frames.ts";
import { requestsOfPayloads } from "../model/fake-bazel/requests.ts";
import { printingBuild } from "./payloads.ts";

/**
 * Uploads many builds at once, each with one progress event of so many bytes over a connection of its own. All share
 * the event's bytes and nothing is copied: made by the usual client, 20 events of 97 MB are 6 GB of this process's
 * memory, and the machine is busy with that instead of with the server.
 */
const settings = JSON.parse(process.argv[2] ?? "{}") as { address: string; count: number; bytes: number };

const pieceBytes = 256 * 1024;
const lines = Array.from({ length: 900 }, (_, index) => `INFO: ${index * 7919} is no line as another\n`);
const piece = Buffer.alloc(pieceBytes, lines.join(""));

/** `BuildEvent { id { progress {} } progress { stderr } }` up to where the text begins. */
function progressHead(textBytes: number): Buffer {
  const stderr = Buffer.concat([Buffer.from([0x12]), encodeLength(textBytes)]);
  const progress = Buffer.concat([Buffer.from([0x1a]), encodeLength(stderr.length + textBytes)]);
  return Buffer.concat([Buffer.from([0x0a, 0x02, 0x12, 0x00]), progress, stderr]);
}

async function write(stream: ClientHttp2Stream, bytes: Uint8Array): Promise<void> {
  if (!stream.write(bytes) && !stream.destroyed) await once(stream, "drain");
}

async function writeMessage(stream: ClientHttp2Stream, message: Uint8Array): Promise<void> {
  await write(stream, grpcPrefix(message.length));
  await write(stream, message);
}

async function writeLargeEvent(stream: ClientHttp2Stream, encoder: EventEncoder): Promise<void> {
  const begin = progressHead(settings.bytes);
  const payloadBytes = begin.length + settings.bytes;
  const { head, tail } = encoder.around({ payloadBytes, sequence: 2, nowMs: systemClock.now() });
  await write(stream, grpcPrefix(head.length + payloadBytes + tail.length));
  await write(stream, head);
  await write(stream, begin);
  for (let left = settings.bytes; left > 0; left -= pieceBytes) await write(stream, piece.subarray(0, left));
  await write(stream, tail);
}

interface Upload {
  readonly acks: number;
  readonly status: unknown;
}

async function upload(session: ClientHttp2Session, index: number): Promise<Upload> {
  const names = { buildId: `build-${index}`, invocationId: `large-${index}`, projectId: "", keywords: [] };
  const stream = session.request({
    ":method": "POST",
    ":path": "/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream",
    "content-type": "application/grpc",
    te: "trailers",
  });
  const unframer = new GrpcUnframer();
  let acks = 0;
  let status: unknown = "none";
  stream.on("data", (chunk: Buffer) => {
    acks += unframer.push(chunk).length;
  });
  stream.on("trailers", (trailers) => {
    status = trailers["grpc-status"];
  });
  const closed = once(stream, "close");
  const others = requestsOfPayloads(printingBuild("large", 1).slice(0, 1), { names, clock: systemClock });
  await writeMessage(stream, others.next(1));
  await writeLargeEvent(stream, new EventEncoder(names));
  await writeMessage(stream, others.next(3));
  stream.end();
  await closed;
  return { acks, status };
}

const uploads = await Promise.all(
  Array.from({ length: settings.count }, async (_, index) => {
    const session = connect(`http://${settings.address}`);
    const done = await upload(session, index).catch((error: unknown) => ({ acks: 0, status: String(error) }));
    session.close(() => {});
    return done;
  }),
);
process.stdout.write(
  JSON.stringify({
    acked: uploads.reduce((sum, { acks }) => sum + acks, 0),
    failures: uploads.filter(({ status }) => status !== "0"),
  }),
);
process.exit(0);
