import type { SourceControl } from "../source-control.ts";

/** No repository: commits are named by whoever announces them, every build is a full one, nothing is promoted. */
export const givenSource: SourceControl = {
  head: async () => undefined,
  isAncestor: async () => undefined,
  promote: async () => "promoted",
};
