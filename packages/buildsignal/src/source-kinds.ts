import { type AnyKind, anySource } from "./queue-directory.ts";
import { gitSourceKind } from "./source/git.ts";
import { givenSourceKind } from "./source/given.ts";
import type { SourceControl } from "./source-control.ts";

/** Every kind of source control that a queue can name. A new kind is added here. */
export const sourceKinds: readonly AnyKind<SourceControl>[] = [
  anySource(gitSourceKind),
  anySource(givenSourceKind),
];
