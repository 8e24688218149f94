// A gRPC message on the wire: one byte "not compressed", the length in four bytes, the message.
const grpcPrefixBytes = 5;

// PublishBuildToolEventStreamResponse: stream_id = 1 (length-delimited), sequence_number = 2 (varint).
const streamIdTag = 0x0a;
const sequenceTag = 0x10;

const twoTo28 = 268_435_456;

/** One acknowledgement as it goes on the wire. `streamId` is the bytes of the connection's StreamId message. */
export function frameAck(streamId: Uint8Array, sequence: number): Buffer {
  return frameAcks({ streamId, from: sequence, to: sequence });
}

/**
 * The acknowledgements `from`..`to` (both included, each ≥ 1 and below 2^53) in one Buffer, to be written to the HTTP/2
 * stream at once: a write per acknowledgement costs more than receiving the event did. Empty when `to` < `from`.
 */
export function frameAcks(acks: { streamId: Uint8Array; from: number; to: number }): Buffer {
  const { streamId, from, to } = acks;
  const head = encodeHead(streamId);
  const out = Buffer.allocUnsafe(totalBytes(head.length, from, to));
  let at = 0;
  for (let sequence = from; sequence <= to; sequence += 1) {
    const length = head.length + 1 + varintBytes(sequence);
    out[at] = 0;
    out.writeUInt32BE(length, at + 1);
    out.set(head, at + grpcPrefixBytes);
    at += grpcPrefixBytes + head.length;
    out[at] = sequenceTag;
    at = writeVarint(out, at + 1, sequence);
  }
  return out;
}

function encodeHead(streamId: Uint8Array): Uint8Array {
  const head = new Uint8Array(1 + varintBytes(streamId.length) + streamId.length);
  head[0] = streamIdTag;
  head.set(streamId, writeVarint(head, 1, streamId.length));
  return head;
}

function totalBytes(headBytes: number, from: number, to: number): number {
  let total = 0;
  for (let first = from; first <= to; ) {
    // All numbers below the next power of 128 are equally long.
    const width = varintBytes(first);
    const last = Math.min(to, 128 ** width - 1);
    total += (last - first + 1) * (grpcPrefixBytes + headBytes + 1 + width);
    first = last + 1;
  }
  return total;
}

function varintBytes(value: number): number {
  let width = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) width += 1;
  return width;
}

function writeVarint(out: Uint8Array, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  while (rest >= twoTo28) {
    out[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 128) {
    out[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  out[at++] = rest;
  return at;
}
