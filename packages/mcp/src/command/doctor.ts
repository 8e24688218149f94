import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { errorText } from "@millrace/base/errors";
import type { RunSettings } from "../run/config.ts";
import { findBazel } from "../run/workspace.ts";
import type { Assembly } from "../serve/assemble.ts";
import { lockHolder } from "../store/lease-lock.ts";

/** One finding: what was looked at, whether it is well, and what to do if not. */
export interface Finding {
  readonly name: string;
  readonly isWell: boolean;
  readonly text: string;
}

/** Looks at everything that a server needs. */
export function examine(assembly: Assembly, at: { settings: RunSettings; workspace: string }): Finding[] {
  const { store, clock } = assembly.context;
  return [
    attempt("bazel", () => {
      const executable = findBazel({
        workspace: at.workspace,
        configured: at.settings.bazelExecutable,
        searchPath: at.settings.searchPath,
      });
      const options = { cwd: at.workspace, encoding: "utf8", timeout: 30_000 } as const;
      return `${executable}: ${execFileSync(executable, ["--version"], options).trim()}`;
    }),
    attempt("cache root", () => {
      accessSync(store.layout.root, constants.R_OK | constants.W_OK | constants.X_OK);
      return `${store.layout.root}, private, ${store.index.size} invocations, opened from ${store.openedFrom}`;
    }),
    {
      name: "records",
      isWell: store.damaged.size === 0,
      text: store.damaged.size === 0 ? "all can be read" : [...store.damaged.values()].join("; "),
    },
    attempt("upkeep", () => {
      const holder = lockHolder(store.layout.maintenance, clock);
      return holder === undefined ? "nobody is at it" : `process ${holder.pid} is at it`;
    }),
    {
      name: "allowed roots",
      isWell: true,
      text:
        at.settings.allowedRoots.length === 0
          ? "every workspace is allowed"
          : at.settings.allowedRoots.join(", "),
    },
  ];
}

function attempt(name: string, look: () => string): Finding {
  try {
    return { name, isWell: true, text: look() };
  } catch (error) {
    return { name, isWell: false, text: errorText(error) };
  }
}
