/** A put whose process died leaves its unfinished bytes; after this long nobody can still be writing them. */
export const leftoverAgeMs = 24 * 60 * 60 * 1000;
