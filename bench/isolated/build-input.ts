import { peekRequest } from "@millrace/proto/bes/peek";
import { requestsOfPayloads, usualKeywords } from "@millrace/test/model/fake-bazel/requests";
import type { Workload } from "../workloads/workload.ts";

/** One build as each stage sees it. */
export interface BuildInput {
  readonly invocationId: string;
  /** PublishBuildToolEventStreamRequest messages. */
  readonly requests: readonly Uint8Array[];
  /** The google.devtools.build.v1.BuildEvent in each. */
  readonly events: readonly Uint8Array[];
}

/** The first `count` builds of a workload. */
export function buildInputs(workload: Workload, count: number): BuildInput[] {
  return Array.from({ length: count }, (_, nth) => {
    const id = String(nth).padStart(12, "0");
    const names = {
      buildId: `00000000-0000-4000-8000-${id}`,
      invocationId: `00000000-0000-4000-9000-${id}`,
      projectId: "",
      keywords: usualKeywords,
    };
    const source = requestsOfPayloads(workload.payloads(nth % workload.variants), { names, startMs: 1.7e12 });
    const requests: Uint8Array[] = [];
    while (!source.isDone) requests.push(source.next(requests.length + 1));
    return { invocationId: names.invocationId, requests, events: requests.map(eventOf) };
  });
}

function eventOf(request: Uint8Array): Uint8Array {
  const peeked = peekRequest(request);
  if (peeked.kind === "malformed") throw new Error(`a workload's request is malformed: ${peeked.reason}`);
  return peeked.bytes.subarray(peeked.eventStart, peeked.eventEnd);
}
