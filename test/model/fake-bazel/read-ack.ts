// PublishBuildToolEventStreamResponse.sequence_number = 2, a varint.
const sequenceTag = 0x10;

/** Where the reading of a message stands; reused, since a load generator reads one ack per event. */
let at = 0;
let isBroken = false;

/**
 * The number of a PublishBuildToolEventStreamResponse; undefined when its bytes are no protobuf. Bazel reads nothing else
 * of it, so nothing else is decoded. A number that no stream reaches (a negative one too) is only some other large one.
 */
export function readAck(message: Uint8Array): number | undefined {
  at = 0;
  isBroken = false;
  let sequence = 0;
  while (at < message.length) {
    const tag = varint(message);
    if (tag === sequenceTag) sequence = varint(message);
    else skip(message, tag);
    if (isBroken || at > message.length) return undefined;
  }
  return sequence;
}

function skip(message: Uint8Array, tag: number): void {
  const wireType = tag % 8;
  if (wireType === 0) varint(message);
  else if (wireType === 1) at += 8;
  else if (wireType === 2) {
    const length = varint(message);
    at += length;
  } else if (wireType === 5) at += 4;
  else isBroken = true;
}

function varint(message: Uint8Array): number {
  let value = 0;
  let scale = 1;
  for (let count = 0; count < 10; count += 1, scale *= 128) {
    const byte = message[at++];
    if (byte === undefined) break;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
  isBroken = true;
  return 0;
}
