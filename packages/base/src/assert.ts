/**
 * A claim about our own code. A broken claim is a bug of ours, never bad input: it stays on in production and
 * its failure takes the process (or the worker thread) down, which supervision and Bazel's retries repair.
 */
export function assert(claim: unknown, sentence: string): asserts claim {
  if (!claim) throw new AssertionFailure(sentence);
}

/** Thrown by `assert`; never caught but at the top of a process or thread. */
export class AssertionFailure extends Error {
  constructor(sentence: string) {
    super(`broken invariant: ${sentence}`);
    this.name = "AssertionFailure";
  }
}

/** Marks a switch over a union as complete: the compiler fails here when a kind is added. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unknown kind ${JSON.stringify(value)}`);
}
