import protobuf from "protobufjs/minimal.js";

/** Splits a file of varint-delimited messages. Throws when the file is broken: recorded files are not. */
export function splitDelimited(file: Uint8Array): Buffer[] {
  const reader = protobuf.Reader.create(file);
  const messages: Buffer[] = [];
  while (reader.pos < reader.len) {
    const length = reader.uint32();
    if (reader.pos + length > reader.len) throw new Error(`message at ${reader.pos} is cut off`);
    messages.push(Buffer.from(file.subarray(reader.pos, reader.pos + length)));
    reader.skip(length);
  }
  return messages;
}
