/** The repository and branch that a queue validates. Its failures are `MillraceError`s. */
export interface SourceControl {
  /** The newest commit; undefined when the branch does not exist. */
  head(signal: AbortSignal): Promise<string | undefined>;
  /** Undefined when one of the two is not known, for instance after a forced push. */
  isAncestor(which: { base: string; head: string }, signal: AbortSignal): Promise<boolean | undefined>;
  /** Says that the commit is the newest green one, for instance by moving a branch there. Repeatable. */
  promote(uri: string, signal: AbortSignal): Promise<"promoted" | "not_found">;
}
