/** A part that ran so long after it was ready was well: its next death counts as the first. */
export const wellAfterMs = 10_000;

const firstRestMs = 500;
const restMsMax = 10_000;

/** From this many deaths in a row on it is told as a crash loop. */
export const loopDeaths = 5;

/**
 * How long a part rests before it is started again, after so many deaths in a row (from 1): not at all after the
 * first, so that it is back within a second, then longer each time up to 10 s.
 */
export function restMs(deaths: number): number {
  return deaths <= 1 ? 0 : Math.min(restMsMax, firstRestMs * 2 ** (deaths - 2));
}
