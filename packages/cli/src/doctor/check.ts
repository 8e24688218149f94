/** How it stands with one thing that Millrace needs. */
export interface Check {
  readonly level: "ok" | "warn" | "fail";
  /** What was looked at: `PostgreSQL`. */
  readonly of: string;
  /** What was found. */
  readonly found: string;
  /** What to do about it; undefined when nothing is to be done. */
  readonly todo: string | undefined;
}

export function ok(of: string, found: string): Check {
  return { level: "ok", of, found, todo: undefined };
}

export function warn(of: string, found: string, todo: string): Check {
  return { level: "warn", of, found, todo };
}

export function fail(of: string, found: string, todo: string): Check {
  return { level: "fail", of, found, todo };
}

const colours = { ok: 32, warn: 33, fail: 31 } as const;

/** A line for a person, and a second one with what to do. */
export function checkText(check: Check, how: { readonly isColoured: boolean }): string {
  const level = check.level.padEnd(4);
  const painted = how.isColoured ? `\x1b[${colours[check.level]}m${level}\x1b[0m` : level;
  const line = `${painted}  ${check.of.padEnd(12)} ${check.found}`;
  return check.todo === undefined ? line : `${line}\n${" ".repeat(19)}→ ${check.todo}`;
}
