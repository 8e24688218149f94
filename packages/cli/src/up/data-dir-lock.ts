import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "@millrace/base/errors";
import {
  identifyProcess,
  isStillRunning,
  type ProcessIdentity,
  processIdentitySchema,
} from "./process-identity.ts";

const lockName = "up.lock";

/** Who holds a data directory. */
export type LockAttempt =
  | { readonly kind: "held"; release(): void }
  | { readonly kind: "taken"; readonly holder: ProcessIdentity };

/**
 * Takes the data directory for this process, so that no second `millrace up` starts on it. The lock of a process
 * that is gone, by kill -9 or a power failure, is taken over.
 */
export function lockDataDir(dataDir: string, self = identifyProcess(process.pid)): LockAttempt {
  if (self === undefined) throw new Error("this process cannot be identified");
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, lockName);
  const draft = `${file}.${self.pid}`;
  writeFileSync(draft, JSON.stringify(self));
  try {
    for (;;) {
      if (linked(draft, file)) return { kind: "held", release: () => release(file, self) };
      const holder = readHolder(file);
      if (holder !== undefined && isStillRunning(holder)) return { kind: "taken", holder };
      moveAside(file, holder);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Who runs `millrace up` on the data directory at this moment, if somebody does. */
export function holderOfDataDir(dataDir: string): ProcessIdentity | undefined {
  const holder = readHolder(join(dataDir, lockName));
  return holder !== undefined && isStillRunning(holder) ? holder : undefined;
}

/** The lock appears with its content, so nobody ever reads half of one. */
function linked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function readHolder(file: string): ProcessIdentity | undefined {
  try {
    return processIdentitySchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined; // Gone meanwhile, or not a lock of ours: nobody holds it.
  }
}

/** Somebody else may have taken over in between: what was moved is looked at, and put back if it is another's. */
function moveAside(file: string, stale: ProcessIdentity | undefined): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    const moved = readHolder(aside);
    if (moved !== undefined && moved.started !== stale?.started) linkSync(aside, file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function release(file: string, self: ProcessIdentity): void {
  if (readHolder(file)?.started === self.started) rmSync(file, { force: true });
}
