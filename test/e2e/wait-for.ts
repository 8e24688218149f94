import { delay, systemClock } from "@millrace/base/clock";

const pollDelayMs = 50;

/** Waits until `condition` gives something; what it throws meanwhile is tried again and told when time is up. */
export async function waitFor<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 120_000,
): Promise<T> {
  const deadlineMs = systemClock.monotonic() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      failure = error;
    }
    if (systemClock.monotonic() > deadlineMs) {
      throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause: failure });
    }
    await delay(systemClock, pollDelayMs);
  }
}
