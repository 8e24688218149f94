import { readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import path from "node:path";
import { errorCode } from "@millrace/base/errors";
import { publisherIsDead } from "../store/journal.ts";
import type { Layout } from "../store/layout.ts";

const removalsPerTurn = 2;

/** Removes what lies in the trash. Outside of every lock, a few at a time so that answers do not wait. */
export async function emptyTrash(layout: Layout): Promise<void> {
  let removed = 0;
  for (const name of readdirSync(layout.trash)) {
    removeFlat(path.join(layout.trash, name));
    removed += 1;
    if (removed % removalsPerTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** An invocation's directory holds files only, so this is a tenth of what a recursive removal costs. */
function removeFlat(directory: string): void {
  try {
    for (const name of readdirSync(directory)) unlinkSync(path.join(directory, name));
    rmdirSync(directory);
  } catch {
    // Not as we make them: a damaged or foreign entry.
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Copies of a Millrace server's builds belong to the process that made them, and go when it is dead. */
export function removeCopiesOfDead(layout: Layout, nowMs: number): void {
  for (const publisher of namesIn(layout.ofServer)) {
    if (!publisherIsDead(layout.changes, { publisher, nowMs })) continue;
    rmSync(path.join(layout.ofServer, publisher), { recursive: true, force: true });
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []; // Nothing was ever copied.
    throw error;
  }
}
