import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { errorCode, MillraceError } from "@millrace/base/errors";
import { FrameSplitter } from "@millrace/proto/bep/frames";
import { readKind } from "@millrace/proto/bep/kind";
import { readConnectionIdentity } from "@millrace/proto/bes/identity";
import { peekRequest } from "@millrace/proto/bes/peek";

/**
 * What a file holds: requests of one event stream as a client sent them, BEP as `--build_event_binary_file` writes
 * it, or BEP as `--build_event_json_file` does.
 */
export type RecordingKind = "requests" | "bep" | "json";

/** No single event is larger. */
export const messageBytesMax = 256 * 1024 * 1024;

const chunkBytes = 256 * 1024;

/** The file's bytes, unpacked if it is gzipped. Fails with a sentence when it cannot be read. */
export async function* readBytes(file: string): AsyncGenerator<Uint8Array> {
  try {
    const isPacked = await isGzipped(file);
    const source = createReadStream(file, { highWaterMark: chunkBytes });
    // A failure of the source reaches the reader through the stream behind it.
    const bytes = isPacked ? pipeline(source, createGunzip({ chunkSize: chunkBytes }), () => {}) : source;
    yield* bytes as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** Says what the file holds by looking at its beginning. Fails with a sentence when it is nothing we know. */
export async function recognize(file: string): Promise<RecordingKind> {
  for await (const chunk of readBytes(file)) {
    const kind = kindOf(chunk);
    if (kind === undefined) break;
    return kind;
  }
  throw new MillraceError({
    remedy: "reject",
    code: "not-a-recording",
    message:
      `${file} is no recording: neither the requests of a stream, nor a file that Bazel wrote for ` +
      "--build_event_binary_file or --build_event_json_file (gzipped or not)",
  });
}

function kindOf(start: Uint8Array): RecordingKind | undefined {
  if (isJson(start)) return "json";
  const splitter = new FrameSplitter({ messageBytesMax });
  for (const frame of splitter.push(start)) {
    if (frame.kind === "broken") return undefined;
    if (isRequest(frame.bytes)) return "requests";
    const event = readKind({ bytes: frame.bytes, from: 0, to: frame.bytes.length });
    return event.kind === "bep" && event.id + event.payload > 0 ? "bep" : undefined;
  }
  return undefined;
}

/** Not by the first byte alone: a length may look like a brace. */
function isJson(start: Uint8Array): boolean {
  const end = start.indexOf(0x0a);
  const line = Buffer.from(end === -1 ? start : start.subarray(0, end)).toString("utf8");
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "id" in value;
  } catch {
    return false;
  }
}

function isRequest(bytes: Uint8Array): boolean {
  const peeked = peekRequest(bytes);
  if (peeked.kind !== "request" || peeked.sequence < 1 || peeked.holds === "none") return false;
  const identity = readConnectionIdentity(bytes);
  return identity.kind === "identity" && identity.streamId.invocationId !== "";
}

async function isGzipped(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, cause: unknown): MillraceError {
  const why: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    EISDIR: "it is a directory; name the files in it",
    EACCES: "this user may not read it",
    Z_BUF_ERROR: "its gzip data end too early",
    Z_DATA_ERROR: "its gzip data are damaged",
  };
  const known = why[errorCode(cause)];
  const message = `${file} cannot be read${known === undefined ? "" : `: ${known}`}`;
  return new MillraceError({
    remedy: "reject",
    code: "unreadable-file",
    message,
    ...(known === undefined && { cause }),
  });
}
