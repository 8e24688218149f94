import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";

/** A fresh UUIDv7 (RFC 9562): 48 bits of milliseconds, then chance. Sorts by time as text and as bytes. */
export function makeUuid7(clock: Clock, random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes.writeUIntBE(clock.now(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return uuidText(bytes);
}

/** The canonical text of the 16 bytes at `offset`. */
export function uuidText(bytes: Buffer, offset = 0): string {
  const hex = bytes.toString("hex", offset, offset + uuidBytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const uuidBytes = 16;

/** The 16 bytes of a UUID's text. */
export function uuidToBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll("-", ""), "hex");
}

/** True for the text of any UUID in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** Milliseconds since the epoch that a UUIDv7 was made at. */
export function uuid7TimeMs(text: string): number {
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}
