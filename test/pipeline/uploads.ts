import { readFileSync } from "node:fs";
import { convertJsonEvent } from "@millrace/proto/bep/ndjson";
import { peekRequest } from "@millrace/proto/bes/peek";
import { google } from "@millrace/proto/gen/bes";
import { type CorpusRun, type PublicFile, readInvocations } from "../model/corpus.ts";
import { splitDelimited } from "../model/frames.ts";
import type { UploadedStream } from "./local-pipeline.ts";

/** The event bytes (`google.devtools.build.v1.BuildEvent`) of recorded requests, in sequence. */
export function eventsOf(requests: readonly Uint8Array[]): Uint8Array[] {
  return requests.map((request) => {
    const peeked = peekRequest(request);
    if (peeked.kind === "malformed") throw new Error(`a recorded request is malformed: ${peeked.reason}`);
    return peeked.bytes.subarray(peeked.eventStart, peeked.eventEnd);
  });
}

/** A recorded run as streams to upload, each with an invocation id of its own; none where Bazel sent no event. */
export function uploadsOf(run: CorpusRun, project = "default"): UploadedStream[] {
  const invocations = readInvocations(run).filter((requests) => requests.length > 0);
  return invocations.map((requests, index) => ({
    project,
    invocationId: `${run.name}-${index}`,
    buildId: `build-of-${run.name}-${index}`,
    events: eventsOf(requests),
  }));
}

const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";

/** BEP payloads as Bazel would stream them, with the end of the stream behind them. */
export function eventsOfPayloads(payloads: readonly Uint8Array[]): Uint8Array[] {
  const encode = (event: google.devtools.build.v1.IBuildEvent) =>
    google.devtools.build.v1.BuildEvent.encode(event).finish();
  return [
    ...payloads.map((value, index) =>
      encode({ eventTime: { seconds: index + 1, nanos: 0 }, bazelEvent: { type_url: typeUrl, value } }),
    ),
    encode({ componentStreamFinished: { type: 1 } }),
  ];
}

/** A public BEP file, binary or as JSON lines. What does not decode in it is left out: some files are broken on purpose. */
export function uploadOfPublicFile(file: PublicFile): UploadedStream {
  const bytes = readFileSync(file.path);
  const payloads = file.path.endsWith(".bep") ? readableFrames(bytes) : payloadsOfLines(bytes.toString());
  return {
    project: "default",
    invocationId: `public-${file.name}`,
    buildId: `build-of-${file.name}`,
    events: eventsOfPayloads(payloads),
  };
}

function readableFrames(bytes: Buffer): Buffer[] {
  try {
    return splitDelimited(bytes);
  } catch {
    return []; // Truncated on purpose; nothing of it is an event.
  }
}

function payloadsOfLines(text: string): Uint8Array[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line) => {
    const converted = convertJsonEvent(line);
    return converted.kind === "event" ? [converted.bytes] : [];
  });
}
