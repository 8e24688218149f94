import { type Clock, delay } from "@millrace/base/clock";

/** How fast a recording is sent. */
export interface Pace {
  /** Resolves when an event that happened at `atMs` of the recording is due. */
  until(atMs: number | undefined): Promise<void>;
}

/** As fast as the server takes it. */
export const withoutPause: Pace = { until: async () => {} };

/** `speed` times as fast as it happened; an event without a time is due with the one before it. */
export function recordedPace(speed: number, clock: Clock): Pace {
  let startedMs: number | undefined;
  let firstAtMs: number | undefined;
  return {
    until: async (atMs) => {
      startedMs ??= clock.monotonic();
      if (atMs === undefined) return;
      firstAtMs ??= atMs;
      const waitMs = startedMs + (atMs - firstAtMs) / speed - clock.monotonic();
      if (waitMs > 0) await delay(clock, waitMs);
    },
  };
}
