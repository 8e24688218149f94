import type { Target } from "@millrace/client/client";

/** Targets that failed for the same reason. */
export interface CauseGroup {
  /** Null for those of which nothing is said. */
  readonly message: string | null;
  readonly targets: readonly Target[];
}

/** Failed targets by what is said of them: first the groups with a message, in the order in which they came. */
export function groupByCause(targets: readonly Target[]): CauseGroup[] {
  const groups = [...Map.groupBy(targets, (target) => target.failureMessage).entries()];
  return groups
    .map(([message, grouped]) => ({ message, targets: grouped }))
    .sort((a, b) => Number(a.message === null) - Number(b.message === null));
}
