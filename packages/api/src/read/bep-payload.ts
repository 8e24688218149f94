import { readEnvelope } from "@millrace/proto/bep/envelope";
import { frameMessage } from "@millrace/proto/bep/frames";
import type { StoredEvent } from "./events.ts";

/** Bytes gathered before they are written: small events would otherwise be a write each. */
const pieceBytes = 64 * 1024;

/** The build_event_stream.BuildEvent inside a stored event; undefined when it holds another thing or nothing. */
export function bepPayload(event: StoredEvent): Uint8Array | undefined {
  const envelope = readEnvelope(event.bytes);
  if (envelope.kind !== "bazel" || !envelope.typeUrlOk) return undefined;
  return envelope.bytes.subarray(envelope.payloadStart, envelope.payloadEnd);
}

/** The events as `--build_event_binary_file` writes them: each BEP payload with its length in front. */
export async function* bepFile(events: AsyncIterable<StoredEvent>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let gathered = 0;
  for await (const event of events) {
    const payload = bepPayload(event);
    if (payload === undefined) continue;
    const frame = frameMessage(payload);
    pieces.push(frame);
    gathered += frame.length;
    if (gathered < pieceBytes) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    gathered = 0;
  }
  if (gathered > 0) yield Buffer.concat(pieces);
}
