import { requestsOfPayloads } from "@millrace/test/model/fake-bazel/requests";
import protobuf from "protobufjs/minimal.js";

// Ids stand around an event, not in it.
const names = { buildId: "", invocationId: "", projectId: "", keywords: [] };

/**
 * The `google.devtools.build.v1.BuildEvent` bytes of a build, made again as the generator made them: event k has the
 * event time `startMs` + k, the end of the stream stands behind the payloads.
 */
export function* eventsOfBuild(payloads: Iterable<Uint8Array>, startMs: number): Generator<Uint8Array> {
  const source = requestsOfPayloads(payloads, { names, startMs });
  for (let sequence = 1; !source.isDone; sequence += 1) yield eventIn(source.next(sequence));
}

const orderedEventField = 4;
const eventField = 3;

/** The event of a PublishBuildToolEventStreamRequest, as a view. */
function eventIn(request: Uint8Array): Uint8Array {
  return fieldOf(fieldOf(request, orderedEventField), eventField);
}

function fieldOf(message: Uint8Array, field: number): Uint8Array {
  const reader = protobuf.Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 !== field) {
      reader.skipType(tag & 7);
      continue;
    }
    const length = reader.uint32();
    return message.subarray(reader.pos, reader.pos + length);
  }
  return new Uint8Array(0);
}
