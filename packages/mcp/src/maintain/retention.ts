import { isTerminal } from "../store/record.ts";
import type { Entry } from "../store/record-index.ts";

/** What is kept, and how long. */
export interface RetentionSettings {
  readonly retentionDays: number;
  readonly successEvidenceHours: number;
  readonly failureEvidenceHours: number;
  readonly maximumStorageBytes: number;
}

/** What one pass of retention does: whole records, and raw output only. */
export interface RetentionPlan {
  readonly remove: readonly string[];
  readonly expireEvidence: readonly string[];
}

const hourMs = 3_600_000;
/** Past the limit, down to this share of it, so that the next build does not start the next pass. */
const lowWater = 0.8;
/** What a record costs besides its payload: manifest, directory. */
const recordBytes = 4096;

/**
 * By age first, then by size, oldest first. Live records are never touched; a record with a result that somebody will
 * fetch keeps its manifest and sidecars until that expires.
 */
export function planRetention(
  entries: Iterable<Entry>,
  at: { settings: RetentionSettings; nowMs: number },
): RetentionPlan {
  const { settings, nowMs } = at;
  const remove: string[] = [];
  const expireEvidence: string[] = [];
  const kept: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const ageMs = nowMs - entry.finishedAtMs;
    const isLive = !isTerminal(entry.state);
    const isProtected = entry.protectedUntilMs > nowMs;
    if (!isLive && !isProtected && ageMs >= settings.retentionDays * 24 * hourMs) {
      remove.push(entry.id);
      continue;
    }
    const hours = entry.state === "succeeded" ? settings.successEvidenceHours : settings.failureEvidenceHours;
    const isStale = !isLive && entry.hasEvidence && entry.payloadBytes > 0 && ageMs >= hours * hourMs;
    if (isStale) expireEvidence.push(entry.id);
    bytes += recordBytes + entry.payloadBytes;
    if (!isLive) kept.push(entry);
  }
  if (bytes > settings.maximumStorageBytes) {
    const target = settings.maximumStorageBytes * lowWater;
    for (const entry of kept) {
      if (bytes <= target) break;
      if (entry.protectedUntilMs > nowMs) {
        if (entry.hasEvidence && !expireEvidence.includes(entry.id)) expireEvidence.push(entry.id);
        continue;
      }
      bytes -= recordBytes + entry.payloadBytes;
      remove.push(entry.id);
    }
  }
  const removed = new Set(remove);
  return { remove, expireEvidence: expireEvidence.filter((id) => !removed.has(id)) };
}
