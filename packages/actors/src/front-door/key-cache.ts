/** What a known API key allows. */
export interface KeyGrant {
  readonly project: string;
  readonly scopes: readonly string[];
  /** Key of the HMAC over event 1. */
  readonly serverSecret: Uint8Array;
}

/** The writers' answer about a key; undefined: there is no such key. */
export type KeyAnswer = KeyGrant | undefined;

export type KeyState =
  | { readonly kind: "granted"; readonly grant: KeyGrant }
  | { readonly kind: "refused" }
  /** Nobody may be told anything before the writers are asked. */
  | { readonly kind: "unknown" };

/** How long an answer is used without asking again; 10 s is the longest that a revoked key goes on working. */
export const grantFreshMs = 10_000;
export const refusalFreshMs = 5_000;
/** How long a grant is honoured when nobody answers. */
export const grantHonouredMs = 600_000;
/** After asking in vain a grant is honoured this long without asking again, so that streams do not all wait. */
export const unansweredMs = 2_000;

const entriesMax = 10_000;

interface Entry {
  readonly answer: KeyAnswer;
  readonly answeredAt: number;
  unansweredAt: number;
}

/** What is known about API keys, by their hash, and for how long. Time is handed in. */
export class KeyCache {
  private readonly entries = new Map<string, Entry>();

  get size(): number {
    return this.entries.size;
  }

  /** @param key hash of the key in any stable form */
  state(key: string, nowMs: number): KeyState {
    const entry = this.entries.get(key);
    if (entry === undefined) return { kind: "unknown" };
    const age = nowMs - entry.answeredAt;
    if (entry.answer === undefined) return age < refusalFreshMs ? { kind: "refused" } : { kind: "unknown" };
    const isFresh = age < grantFreshMs;
    const isHonoured = age < grantHonouredMs && nowMs - entry.unansweredAt < unansweredMs;
    return isFresh || isHonoured ? { kind: "granted", grant: entry.answer } : { kind: "unknown" };
  }

  answered(key: string, answer: KeyAnswer, nowMs: number): void {
    this.entries.delete(key);
    this.entries.set(key, { answer, answeredAt: nowMs, unansweredAt: Number.NEGATIVE_INFINITY });
    if (this.entries.size <= entriesMax) return;
    // Oldest answer first: a flood of wrong keys drives out itself, and a good key is asked for again.
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  /** Nobody answered; an earlier grant is honoured for a while. */
  unanswered(key: string, nowMs: number): void {
    const entry = this.entries.get(key);
    if (entry !== undefined) entry.unansweredAt = nowMs;
  }
}
