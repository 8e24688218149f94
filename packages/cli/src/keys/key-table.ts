import type { ListedKey } from "@millrace/db/api-keys";
import { textTable } from "../signal/text-table.ts";

/** A key as programs are told of it. */
export function keyRow(key: ListedKey) {
  const {
    id,
    projectId: project,
    name,
    scopes,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
    replacedBy,
  } = key;
  return {
    id,
    project,
    name,
    scopes,
    state: stateOf(key),
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
    replacedBy,
  };
}

/** A line for each key, under headings. */
export function keyTable(keys: readonly ListedKey[]): string[] {
  const rows = keys.map((key) => [
    key.id,
    key.projectId,
    stateOf(key),
    key.scopes.join(","),
    day(key.createdAt),
    day(key.expiresAt),
    day(key.lastUsedAt),
    key.name,
  ]);
  return textTable(["ID", "PROJECT", "STATE", "SCOPES", "CREATED", "EXPIRES", "LAST USED", "NAME"], rows);
}

function stateOf(key: ListedKey): "revoked" | "expired" | "replaced" | "valid" {
  if (key.revokedAt !== null) return "revoked";
  if (key.isExpired) return "expired";
  return key.replacedBy === null ? "valid" : "replaced";
}

/** To the minute, in UTC. */
function day(at: Date | null): string {
  return at === null ? "-" : at.toISOString().slice(0, 16).replace("T", " ");
}
