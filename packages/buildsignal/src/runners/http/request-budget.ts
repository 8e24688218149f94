/** What a service says about the requests that it still answers in this window of time. */
export interface RequestBudget {
  readonly limit: number;
  readonly remaining: number;
  /** Until the next window. */
  readonly resetMs: number;
}

/** The last tenth is kept for builds that are to be started or cancelled, and for others. */
const sparingFrom = 0.1;
const sparingMsMax = 60_000;

/**
 * How long to leave the service alone: until the next window when nothing is left; up to a minute when less than a
 * tenth is. A poll that waits costs nothing, one that is refused costs an attempt.
 */
export function sparingMs(budget: RequestBudget): number | undefined {
  if (budget.remaining <= 0) return budget.resetMs;
  return budget.remaining < budget.limit * sparingFrom ? Math.min(sparingMsMax, budget.resetMs) : undefined;
}

/** A header that holds a whole number; undefined for anything else. */
export function numberIn(headers: Headers, name: string): number | undefined {
  const text = headers.get(name)?.trim() ?? "";
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
