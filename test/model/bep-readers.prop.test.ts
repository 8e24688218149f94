import { readEnvelope } from "@millrace/proto/bep/envelope";
import { readEventId } from "@millrace/proto/bep/event-id";
import { payloadField, readKind } from "@millrace/proto/bep/kind";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import fc from "fast-check";
import protobuf from "protobufjs/minimal.js";
import { expect, test } from "vitest";
import { expectReadersAgree, readers } from "./readers-agree.ts";

// Messages as lists of fields: any order, repeated, split, unknown, of a wrong wire type.
const fieldNumber = fc.integer({ min: 1, max: 15 });
const varint = fc.oneof(fc.nat(12), fc.integer(), fc.maxSafeInteger());
const { message } = fc.letrec<{ message: Uint8Array }>((tie) => ({
  message: fc
    .array(
      fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.tuple(fieldNumber, varint).map(([field, value]) => varintField(field, value)),
        fc
          .tuple(fieldNumber, fc.string({ maxLength: 3 }))
          .map(([field, text]) => bytesField(field, Buffer.from(text))),
        fc.tuple(fieldNumber, tie("message")).map(([field, inner]) => bytesField(field, inner)),
      ),
      { maxLength: 5 },
    )
    .map((fields) => Uint8Array.from(Buffer.concat(fields))),
}));

const idMember = fc.integer({ min: 1, max: 30 });
const payloadMember = fc.constantFrom(...Object.values(payloadField), 31, 40);
const event = fc
  .array(
    fc.oneof(
      fc.tuple(payloadMember, message).map(([field, inner]) => bytesField(field, inner)),
      fc.tuple(idMember, message).map(([field, inner]) => bytesField(1, bytesField(field, inner))),
      fc.constant(bytesField(2, new Uint8Array(0))),
      fc.constant(varintField(20, 1)),
    ),
    { maxLength: 4 },
  )
  .map((fields) => Uint8Array.from(Buffer.concat(fields)));

function varintField(field: number, value: number): Uint8Array {
  return protobuf.Writer.create()
    .uint32(field << 3)
    .int64(value)
    .finish();
}

function bytesField(field: number, value: Uint8Array): Uint8Array {
  return protobuf.Writer.create()
    .uint32((field << 3) | 2)
    .bytes(value)
    .finish();
}

function decodes(bytes: Uint8Array): boolean {
  try {
    build_event_stream.BuildEvent.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

test("fields in any order, repeated, split and of wrong types are read as the static decoder reads them", () => {
  let compared = 0;
  fc.assert(
    fc.property(event, (bytes) => {
      if (!decodes(bytes)) return;
      compared += 1;
      expectReadersAgree(bytes);
    }),
    { numRuns: 3000 },
  );
  expect(compared).toBeGreaterThan(300);
});

test("damaged events never throw, whatever reader is used", () => {
  const damaged = fc.tuple(event, fc.nat(), fc.nat(255), fc.boolean()).map(([bytes, at, byte, cut]) => {
    if (bytes.length === 0) return bytes;
    const copy = Uint8Array.from(bytes);
    copy[at % copy.length] = byte;
    return cut ? copy.subarray(0, at % copy.length) : copy;
  });
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 40 })), (bytes) => {
      readEnvelope(bytes);
      const kind = readKind({ bytes, from: 0, to: bytes.length });
      if (isMalformed(kind)) return;
      readEventId(kind);
      for (const read of Object.values(readers)) read(kind);
    }),
    { numRuns: 3000 },
  );
});
