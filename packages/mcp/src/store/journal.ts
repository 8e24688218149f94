import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { errorCode } from "@millrace/base/errors";
import { livenessOf, ownIdentity, type ProcessIdentity } from "./liveness.ts";
import { fileMode } from "./private-file.ts";
import { uuidBytes, uuidText, uuidToBytes } from "./uuid7.ts";

/**
 * How one server process tells the others what it changed. In `changes/` each process alone writes three files:
 * `<publisher>.lock` (who it is), `<publisher>.journal` (sixteen bytes per changed invocation, appended) and an empty
 * marker `<publisher>.<settled>`, renamed after the change: `settled` is the number of journal bytes whose manifests
 * are in place. So a reader needs one directory listing to know that nothing happened, and reads only what did.
 *
 * Order of a commit: journal, manifest, marker. A crash between them leaves journal bytes beyond `settled`; whoever
 * finds the publisher dead takes the whole journal as settled.
 */
export class Publisher {
  readonly id: string;
  private readonly directory: string;
  private readonly journal: number;
  private written = 0;
  private marker: string;

  constructor(at: { directory: string; id: string }) {
    this.id = at.id;
    this.directory = at.directory;
    const identity = JSON.stringify(ownIdentity());
    writeFileSync(`${at.directory}/${at.id}.lock`, identity, { mode: fileMode, flag: "wx" });
    const flags = constants.O_CREAT | constants.O_APPEND | constants.O_WRONLY | constants.O_EXCL;
    this.journal = openSync(`${at.directory}/${at.id}.journal`, flags, fileMode);
    this.marker = `${at.directory}/${at.id}.${settledText(0)}`;
    closeSync(openSync(this.marker, constants.O_CREAT | constants.O_WRONLY, fileMode));
  }

  /** Says that these invocations are about to change. */
  announce(ids: readonly string[]): void {
    const bytes = Buffer.concat(ids.map(uuidToBytes));
    writeSync(this.journal, bytes);
    this.written += bytes.length;
  }

  /** Says that all announced changes are in place. */
  settle(): void {
    const marker = `${this.directory}/${this.id}.${settledText(this.written)}`;
    if (marker === this.marker) return;
    renameSync(this.marker, marker);
    this.marker = marker;
  }

  get settled(): number {
    return this.written;
  }

  /** For processes on other machines, which cannot ask our kernel. */
  touch(now: Date): void {
    utimesSync(`${this.directory}/${this.id}.lock`, now, now);
  }

  close(): void {
    closeSync(this.journal);
  }
}

/** One publisher as the listing of `changes/` shows it. */
export interface Published {
  readonly id: string;
  readonly settled: number;
}

const markerName = /^([0-9a-f-]{36})\.([0-9a-f]{12})$/;

/** The publishers and how far each is. One system call. */
export function readMarkers(directory: string): Published[] {
  const found: Published[] = [];
  for (const name of readdirSync(directory)) {
    const match = markerName.exec(name);
    if (match) found.push({ id: match[1] ?? "", settled: Number.parseInt(match[2] ?? "", 16) });
  }
  return found;
}

/** The ids that `publisher` announced in `[from, to)` of its journal; `to` absent means all that is there. */
export function readJournal(
  directory: string,
  range: { publisher: string; from: number; to?: number },
): { ids: string[]; end: number } {
  let fd: number;
  try {
    fd = openSync(`${directory}/${range.publisher}.journal`, "r");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { ids: [], end: range.from };
    throw error;
  }
  try {
    const size = fstatSync(fd).size;
    const end = Math.min(range.to ?? size, size - (size % uuidBytes));
    const bytes = Buffer.alloc(Math.max(0, end - range.from));
    readSync(fd, bytes, 0, bytes.length, range.from);
    const ids = new Set<string>();
    for (let at = 0; at + uuidBytes <= bytes.length; at += uuidBytes) ids.add(uuidText(bytes, at));
    return { ids: [...ids], end: Math.max(range.from, end) };
  } finally {
    closeSync(fd);
  }
}

/** Whether the publisher's process still runs. */
export function publisherIsDead(directory: string, at: { publisher: string; nowMs: number }): boolean {
  const path = `${directory}/${at.publisher}.lock`;
  try {
    const identity = JSON.parse(readFileSync(path, "utf8")) as ProcessIdentity;
    const liveness = livenessOf(identity);
    if (liveness !== "elsewhere") return liveness === "dead";
    return at.nowMs - statSync(path).mtimeMs > silenceMeansDeathMs;
  } catch (error) {
    return errorCode(error) === "ENOENT";
  }
}

/** Publishers on other machines or in other containers touch their lock every thirty seconds. */
export const touchPeriodMs = 30_000;
const silenceMeansDeathMs = 120_000;

/** Removes what a dead publisher left. Its marker goes last: without it nobody looks for the rest. */
export function removePublisher(directory: string, published: Published): void {
  const names = ["journal", "lock", settledText(published.settled)].map((end) => `${published.id}.${end}`);
  for (const name of names) {
    try {
      unlinkSync(`${directory}/${name}`);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
}

function settledText(bytes: number): string {
  return bytes.toString(16).padStart(12, "0");
}
