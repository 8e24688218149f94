import type { Build } from "@millrace/client/client";
import type { BuildFilter, Page } from "./queries.ts";

/** Whether a build belongs into a list, by the rules of the server. */
function fits(build: Build, filter: BuildFilter): boolean {
  return (
    isAmong(build.status, filter.status) &&
    isAmong(build.command, filter.command) &&
    isAmong(build.user, filter.user)
  );
}

function isAmong(value: string | null, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.length === 0 || (value !== null && wanted.includes(value));
}

/**
 * The loaded pages after a build changed: its row is replaced, taken out when it does not fit any more, put on top when it is
 * new. One that is older than what is loaded comes with its page. A state that arrives late replaces no newer one.
 */
export function mergeBuild(pages: readonly Page<Build>[], build: Build, filter: BuildFilter): Page<Build>[] {
  const known = pages.flatMap((page) => page.rows).find((row) => row.invocationId === build.invocationId);
  if (known !== undefined && isOlder(build, known)) return [...pages];
  const belongs = fits(build, filter);
  if (known !== undefined && belongs && known.attempt === build.attempt) {
    return pages.map((page) => ({
      ...page,
      rows: page.rows.map((row) => (row.invocationId === build.invocationId ? build : row)),
    }));
  }
  const without = pages.map((page) => ({
    ...page,
    rows: page.rows.filter((row) => row.invocationId !== build.invocationId),
  }));
  return belongs ? insert(without, build) : without;
}

function isOlder(build: Build, known: Build): boolean {
  if (build.attempt !== known.attempt) return build.attempt < known.attempt;
  return build.lastSequence < known.lastSequence;
}

/** By the time of the first stored event: attempts are numbered in that order. */
function insert(pages: Page<Build>[], build: Build): Page<Build>[] {
  let isPlaced = false;
  const placed = pages.map((page, index) => {
    if (isPlaced) return page;
    const at = page.rows.findIndex((row) => row.createdAt < build.createdAt);
    const isLast = index === pages.length - 1 && page.nextCursor === null;
    if (at === -1 && !isLast) return page;
    isPlaced = true;
    const rows = [...page.rows];
    rows.splice(at === -1 ? rows.length : at, 0, build);
    return { ...page, rows };
  });
  return placed;
}
