import { linkSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import type { Clock } from "@millrace/base/clock";
import { errorCode } from "@millrace/base/errors";
import { livenessOf, ownIdentity, type ProcessIdentity } from "./liveness.ts";
import { fileMode, makePrivateDirectory, replaceFile } from "./private-file.ts";

/** Who holds a lock, for messages to those who wait. */
export interface LockHolder extends ProcessIdentity {
  readonly purpose: string;
  readonly acquired_at_ms: number;
}

/** A lock held by this process. It ends with the process, however that ends. */
export interface HeldLock {
  release(): void;
}

export type LockAttempt =
  | { readonly kind: "held"; readonly lock: HeldLock }
  | { readonly kind: "busy"; readonly holder: LockHolder };

// A holder on another machine proves that it lives by touching its file; this long without means it is gone.
const elsewhereTimeoutMs = 120_000;

/**
 * A lock among processes without a kernel lock (Node has none): a directory of generations. Only the highest counts. It
 * is free when its holder released it or is dead, and is then taken by *creating* the next generation, which succeeds for
 * one process. Nobody ever removes or rewrites another's live generation, so a late contender cannot steal:
 * after creating, it looks again and withdraws when a higher one exists.
 */
export function tryLock(at: { directory: string; purpose: string; clock: Clock }): LockAttempt {
  makePrivateDirectory(at.directory);
  for (;;) {
    const top = highest(at.directory);
    const holder = top === 0 ? undefined : readHolder(at.directory, top);
    if (holder !== undefined && isHeld(at, holder, top)) return { kind: "busy", holder };
    const mine = top + 1;
    if (!create(at, mine)) continue;
    if (highest(at.directory) !== mine) {
      // Whoever is above may have cleared it away already.
      removeIfThere(`${at.directory}/${mine}`);
      continue;
    }
    removeBelow(at.directory, mine);
    return { kind: "held", lock: { release: () => release(at.directory, mine) } };
  }
}

/** Who holds the lock now, without taking it. */
export function lockHolder(directory: string, clock: Clock): LockHolder | undefined {
  const top = highest(directory);
  const holder = top === 0 ? undefined : readHolder(directory, top);
  return holder !== undefined && isHeld({ directory, clock }, holder, top) ? holder : undefined;
}

function isHeld(at: { directory: string; clock: Clock }, holder: LockHolder, generation: number): boolean {
  if (holder.pid === 0) return false;
  const liveness = livenessOf(holder);
  if (liveness !== "elsewhere") return liveness === "alive";
  try {
    return at.clock.now() - statSync(`${at.directory}/${generation}`).mtimeMs < elsewhereTimeoutMs;
  } catch {
    return false; // Replaced meanwhile; the next round sees by whom.
  }
}

function highest(directory: string): number {
  let top = 0;
  for (const name of namesOf(directory)) {
    const generation = Number(name);
    if (Number.isSafeInteger(generation) && generation > top) top = generation;
  }
  return top;
}

function namesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function readHolder(directory: string, generation: number): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(`${directory}/${generation}`, "utf8")) as LockHolder;
  } catch {
    return undefined; // Removed by a newer holder, or damaged: no claim either way, the creation decides.
  }
}

/** Complete or absent: the content is written aside and linked to its name, which fails if the name is taken. */
function create(at: { directory: string; purpose: string; clock: Clock }, generation: number): boolean {
  const holder: LockHolder = { ...ownIdentity(), purpose: at.purpose, acquired_at_ms: at.clock.now() };
  creations += 1;
  const aside = `${at.directory}/.${process.pid}-${creations}.tmp`;
  try {
    writeFileSync(aside, JSON.stringify(holder), { mode: fileMode });
    linkSync(aside, `${at.directory}/${generation}`);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    removeIfThere(aside);
  }
}

let creations = 0;

function removeBelow(directory: string, generation: number): void {
  for (const name of namesOf(directory)) {
    // Another contender cleans as well.
    if (Number(name) < generation) removeIfThere(`${directory}/${name}`);
  }
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Frees by rewriting our own generation, so that the highest number never goes down. */
function release(directory: string, generation: number): void {
  const free: LockHolder = { pid: 0, started: "", place: "", purpose: "free", acquired_at_ms: 0 };
  try {
    if (readHolder(directory, generation) === undefined) return;
    creations += 1;
    const temporary = `${process.pid}-${creations}`;
    replaceFile({ directory, name: String(generation), temporary }, JSON.stringify(free));
  } catch {
    // The directory is gone or unwritable; our death frees it all the same.
  }
}
