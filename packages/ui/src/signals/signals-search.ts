/** What the address of the Signals page says. */
export interface SignalsSearch {
  /** The first one when left out. */
  readonly queue?: string;
  /** States of requests, with commas between them. */
  readonly state?: string;
  /** Number of the request whose details are open. */
  readonly request?: number;
}

export function readSignalsSearch(search: Record<string, unknown>): SignalsSearch {
  const number = Number(search.request);
  return {
    ...(typeof search.queue === "string" && search.queue !== "" && { queue: search.queue }),
    ...(typeof search.state === "string" && search.state !== "" && { state: search.state }),
    ...(Number.isSafeInteger(number) && number > 0 && { request: number }),
  };
}
