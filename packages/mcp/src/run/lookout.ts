import { existsSync, readFileSync, statSync } from "node:fs";
import { type Clock, every } from "@millrace/base/clock";
import { tailOf } from "../conclude/scan-log.ts";

/** How often it looks. */
export const lookoutPeriodMs = 250;
const lockMessageBytes = 4 << 10;

/** The files that a lookout looks at, and whom it tells. */
export interface LookoutSettings {
  readonly clock: Clock;
  readonly cancelPath: string;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Bytes of both outputs together; undefined for no limit. */
  readonly outputBytesMax: number | undefined;
  readonly onCancel: (reason: string) => void;
  readonly onTooMuchOutput: () => void;
  /** Told at each look whether Bazel's client waits for another command in its output base. */
  readonly onLook: (isWaitingForBazel: boolean) => void;
}

/** Looks now and then for what nobody tells us: a cancel from another process, too much output, Bazel's own lock. */
export function keepLookout(settings: LookoutSettings): () => void {
  const { cancelPath, stderrPath, outputBytesMax } = settings;
  return every(settings.clock, lookoutPeriodMs, () => {
    if (existsSync(cancelPath)) settings.onCancel(readReason(cancelPath));
    if (outputBytesMax !== undefined && outputBytes(settings) > outputBytesMax) settings.onTooMuchOutput();
    settings.onLook(waitsForBazelLock(stderrPath));
  });
}

/** What a command has printed so far. */
export function outputBytes(at: { readonly stdoutPath: string; readonly stderrPath: string }): number {
  return sizeOf(at.stdoutPath) + sizeOf(at.stderrPath);
}

/** Bazel's client says so as the last thing, and goes on to other output when it gets its turn. */
function waitsForBazelLock(stderr: string): boolean {
  const lines = tailOf(stderr, lockMessageBytes).trimEnd().split("\n");
  return /^Another command .*(is running|Waiting for it to complete)/.test(lines.at(-1) ?? "");
}

function readReason(path: string): string {
  try {
    const asked = JSON.parse(readFileSync(path, "utf8")) as { reason?: unknown };
    return typeof asked.reason === "string" ? asked.reason : "";
  } catch {
    return ""; // Being written: that it is there says enough.
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0; // Not written yet.
  }
}
