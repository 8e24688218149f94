import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import net from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeHeaderBlock, HeaderBlockReader } from "./hpack.ts";
import { type Frame, FrameReader, frameType, headersFrames, preface, settingsAck } from "./http2-frames.ts";

function fieldsOf(block: Uint8Array): [string, string][] {
  const reader = new HeaderBlockReader(Buffer.from(block));
  const fields: [string, string][] = [];
  while (reader.next()) fields.push([reader.name, reader.value()]);
  return fields;
}

const get = encodeHeaderBlock([
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "x"],
]);

/** The header block with which Node's server answers, as it is on the wire. */
async function blockOfNode(headers: http2.OutgoingHttpHeaders): Promise<Buffer> {
  const server = http2.createServer((_, response) => response.stream.respond(headers, { endStream: true }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    socket.write(Buffer.concat([preface, headersFrames(1, get), settingsAck]));
    const reader = new FrameReader();
    return await new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      const onFrame = (frame: Frame): void => {
        if (frame.type !== frameType.headers && frame.type !== frameType.continuation) return;
        parts.push(Buffer.from(frame.payload));
        if ((frame.flags & 4) !== 0) resolve(Buffer.concat(parts));
      };
      socket.on("data", (chunk: Buffer) => reader.push(chunk, onFrame));
      socket.on("error", reject);
    });
  } finally {
    socket.destroy();
    server.close();
  }
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));

test("what Node's server sends is read as it was meant, for every printable character and beyond", async () => {
  const values = [
    ...printable.map((character) => `aaaaaaaa${character}0`),
    ...Array.from({ length: 128 }, (_, index) => `${"e".repeat(60)}${String.fromCharCode(128 + index)}0`),
  ];
  const headers = Object.fromEntries(values.map((value, index) => [`x-value-${index}`, value]));
  const block = await blockOfNode({ ":status": 200, "content-type": "application/grpc", ...headers });
  const fields = new Map(fieldsOf(block));
  expect(fields.get(":status")).toBe("200");
  expect(fields.get("content-type")).toBe("application/grpc");
  expect(values.map((_, index) => fields.get(`x-value-${index}`))).toEqual(values);
  // The claim is about Huffman: the block is shorter than its strings.
  expect(block.length).toBeLessThan(values.join("").length);
});

test("what is encoded is read as it was, strings longer than a byte can say included", () => {
  const text = fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((c) => String.fromCharCode(c)) });
  const long = fc.integer({ min: 120, max: 20_000 }).map((length) => "v".repeat(length));
  const fields = fc.array(fc.tuple(text, fc.oneof(text, long)), { maxLength: 6 });
  fc.assert(
    fc.property(fields, (all) => {
      expect(fieldsOf(encodeHeaderBlock(all))).toEqual(all);
    }),
  );
});

test.each([
  [
    "RFC 7541 C.2.1",
    "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
    [["custom-key", "custom-header"]],
  ],
  ["RFC 7541 C.2.2", "040c2f73616d706c652f70617468", [[":path", "/sample/path"]]],
  ["RFC 7541 C.2.3", "100870617373776f726406736563726574", [["password", "secret"]]],
  ["RFC 7541 C.2.4", "82", [[":method", "GET"]]],
  [
    "a table of no room, then C.4.1's authority",
    "20418cf1e3c2e5f23a6ba0ab90f4ff",
    [[":authority", "www.example.com"]],
  ],
] as const)("%s", (_, hex, fields) => {
  expect(fieldsOf(Buffer.from(hex, "hex"))).toEqual(fields);
});

test.each([
  ["an index of the dynamic table", "be"],
  ["index 0", "80"],
  ["a table with room", "3f01"],
  ["a string past its block", "000461"],
  ["an endless integer", "ffffffffffffff"],
  ["a Huffman string that ends within a code", "0081ff00"],
  ["a Huffman string with the end in it", "0084ffffffff00"],
])("%s is refused", (_, hex) => {
  expect(() => fieldsOf(Buffer.from(hex, "hex"))).toThrow("HPACK");
});

test("no bytes make it do anything but answer or throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        fieldsOf(bytes);
      } catch (error) {
        expect(String(error)).toContain("HPACK");
      }
    }),
  );
});
