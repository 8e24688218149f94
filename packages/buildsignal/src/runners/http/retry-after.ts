/** No server makes us wait longer than this. */
const waitMsMax = 3_600_000;

/**
 * How long a server asks to be left alone: `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), else undefined.
 * Between 0 and one hour.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return bounded(Number(text) * 1_000);
  // A date has a letter; `Date.parse` would read "-5" or "1.5" as a year.
  const at = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : bounded(at - nowMs);
}

/** The same for a header that holds seconds since the epoch, such as `x-ratelimit-reset`. */
export function untilEpochSecondsMs(
  headers: Headers,
  of: { name: string; nowMs: number },
): number | undefined {
  const text = headers.get(of.name)?.trim() ?? "";
  return /^\d{1,12}$/.test(text) ? bounded(Number(text) * 1_000 - of.nowMs) : undefined;
}

function bounded(ms: number): number {
  return Math.min(waitMsMax, Math.max(0, ms));
}
