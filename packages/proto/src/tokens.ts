import { createHash } from "node:crypto";
import { routingHash } from "@millrace/base/hash";

/** How many shards the invocations are spread over. Fixed for ever: it is part of every subject. */
export const shardCount = 64;

/** Longest invocation id that is accepted, in UTF-8 bytes. Bazel sends UUIDs of 36. */
export const invocationIdBytesMax = 256;

/** A project's slug, which is also its id: lower-case letters, digits and hyphens. */
export const projectPattern = /^[a-z0-9-]{1,40}$/;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The routing key of an invocation; a project's slug cannot contain the separator. */
export function invocationKey(project: string, invocationId: string): string {
  return `${project}/${invocationId}`;
}

/** The hash class that decides which writer serves an invocation, 0 … 63. */
export function shardOf(project: string, invocationId: string): number {
  return routingHash(invocationKey(project, invocationId)) % shardCount;
}

/**
 * An invocation id as a subject token: a UUID as it is (lower case), anything else as `x` + base32 of its
 * SHA-256, so that no id can hold a dot or a wildcard.
 */
export function invocationToken(invocationId: string): string {
  if (uuidPattern.test(invocationId)) return invocationId;
  return `x${base32(createHash("sha256").update(invocationId, "utf8").digest())}`;
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      text += alphabet[(value >>> (bits - 5)) & 31];
      bits -= 5;
    }
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}
