import { peekRequest } from "@millrace/proto/bes/peek";
import { type CorpusRun, readInvocations } from "../model/corpus.ts";
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
