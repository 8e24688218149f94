import type { BuildObservation } from "../runner.ts";

/** What a table of states says of `word`; `unknown` for a word that it does not hold. */
export function observed(table: Readonly<Record<string, BuildObservation>>, word: string): BuildObservation {
  const known = Object.hasOwn(table, word) ? table[word] : undefined;
  return { ...(known ?? { status: "unknown" }), providerState: word };
}

/** Adds what the answer says beside the state, where it says it. */
export function withDetails(
  observation: BuildObservation,
  details: {
    url?: string | null | undefined;
    metadata?: Readonly<Record<string, string>> | undefined;
    retryAfterMs?: number | undefined;
  },
): BuildObservation {
  return {
    ...observation,
    ...(details.url ? { url: details.url } : {}),
    ...(details.metadata === undefined ? {} : { metadata: details.metadata }),
    ...(details.retryAfterMs === undefined ? {} : { retryAfterMs: details.retryAfterMs }),
  };
}
