/** How long a failed delivery waits. Milliseconds. */
export interface Backoff {
  readonly initialMs: number;
  readonly multiplier: number;
  readonly maxMs: number;
  /** 0: exactly the delay; 1: anything between 0 and the delay. */
  readonly jitter: number;
}

/** min(max, initial × multiplier^(attempt − 1)), less a random part; saturates however large the attempt is. */
export function retryDelayMs(backoff: Backoff, attempt: number, fraction: number): number {
  const grown = backoff.initialMs * backoff.multiplier ** Math.max(0, attempt - 1);
  const full = Number.isFinite(grown) ? Math.min(backoff.maxMs, grown) : backoff.maxMs;
  return Math.round(full * (1 - backoff.jitter * fraction));
}
