import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { peekRequest } from "@millrace/proto/bes/peek";

const corpusDir = path.resolve(import.meta.dirname, "../../../../test/corpus");

/** A recorded stream of a real Bazel: its google.devtools.build.v1.BuildEvents as they were sent. */
export interface RecordedStream {
  readonly name: string;
  readonly events: readonly Uint8Array[];
}

/** All recorded streams whose name holds `part`, such as `bazel7-test-ok/stream1`. */
export function readRecordedStreams(part = ""): RecordedStream[] {
  return readdirSync(corpusDir)
    .filter((run) => run.startsWith("bazel"))
    .sort()
    .flatMap((run) =>
      readdirSync(path.join(corpusDir, run))
        .filter((file) => /^stream\d+\.requests\.bin(\.gz)?$/.test(file))
        .map((file) => path.join(run, file)),
    )
    .filter((file) => file.includes(part))
    .map((file) => ({
      name: file.replace(/\.requests.*/, ""),
      events: readEvents(path.join(corpusDir, file)),
    }));
}

function readEvents(file: string): Uint8Array[] {
  const stored = readFileSync(file);
  const bytes = file.endsWith(".gz") ? gunzipSync(stored) : stored;
  const events: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      length |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    const request = peekRequest(bytes.subarray(at, at + length));
    at += length;
    if (request.kind === "malformed") throw new Error(`${file}: ${request.reason}`);
    events.push(request.bytes.subarray(request.eventStart, request.eventEnd));
  }
  return events;
}
