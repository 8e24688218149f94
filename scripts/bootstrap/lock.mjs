import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollDelayMs = 200;
const heartbeatMs = 5000;
const staleAfterMs = 60_000;
const waitMaxMs = 30 * 60_000;

/**
 * Runs `action` while this process holds the lock file; others wait. A lock is taken over when its process is
 * gone or its heartbeat has stopped (a process number may have been given to somebody else). Only for
 * processes of one machine.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} action
 * @param {{ onWait?: (holder: number) => void }} [options]
 * @returns {Promise<T>}
 */
export async function withLock(file, action, options = {}) {
  mkdirSync(dirname(file), { recursive: true });
  const deadlineMs = performance.now() + waitMaxMs;
  let announced = false;
  while (!tryLock(file)) {
    if (!announced) options.onWait?.(holderOf(file));
    announced = true;
    if (performance.now() > deadlineMs) throw new Error(`the lock ${file} was not free within 30 minutes`);
    await delay(pollDelayMs);
  }
  const heartbeat = setInterval(() => touch(file), heartbeatMs);
  try {
    return await action();
  } finally {
    clearInterval(heartbeat);
    rmSync(file, { force: true });
  }
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  const holder = holderOf(file);
  // A file still empty belongs to a process between its creation and its first byte.
  const heldFor = holder === 0 ? 2000 : staleAfterMs;
  if (ageMs(file) > heldFor || (holder !== 0 && !isAlive(holder))) removeStale(file, holder);
  return false;
}

/** Somebody else may have taken over in between: what was moved away is looked at and put back if it is alive. */
function removeStale(file, holder) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (holderOf(aside) !== holder) linkSync(aside, file);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function holderOf(file) {
  try {
    return Number(readFileSync(file, "utf8")) || 0;
  } catch {
    return 0;
  }
}

function ageMs(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

function touch(file) {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // Taken away by hand: the work under the lock goes on, nothing better can be done about it here.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
