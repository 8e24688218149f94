import { createHash } from "node:crypto";

/** First 16 hex digits of a SHA-256 over texts and payloads, each behind its length. */
export function hashOf(parts: Iterable<Uint8Array | string>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex").slice(0, 16);
}
