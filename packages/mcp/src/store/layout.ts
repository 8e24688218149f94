import path from "node:path";
import { uuid7TimeMs } from "./uuid7.ts";

/**
 * Where everything lies below the cache root (docs/mcp.md). One directory per invocation, found from its id alone:
 * `invocations/<day>/<shard>/<id>`. `day` is the day number of the UUIDv7 in eight hex digits, `shard` the low four
 * bits of its last byte, so that no directory grows beyond a sixteenth of a day.
 */
export interface Layout {
  readonly root: string;
  readonly invocations: string;
  readonly changes: string;
  readonly trash: string;
  readonly maintenance: string;
  /** Copies of builds that a Millrace server stores, a directory for each server process that has made some. */
  readonly ofServer: string;
  readonly snapshot: string;
}

export function layoutOf(root: string): Layout {
  return {
    root,
    invocations: path.join(root, "invocations"),
    changes: path.join(root, "changes"),
    trash: path.join(root, "trash"),
    maintenance: path.join(root, "MAINTENANCE"),
    ofServer: path.join(root, "of-server"),
    snapshot: path.join(root, "index.snapshot"),
  };
}

const dayMs = 86_400_000;

export function dayBucket(id: string): string {
  return Math.floor(uuid7TimeMs(id) / dayMs)
    .toString(16)
    .padStart(8, "0");
}

export function shardOf(id: string): string {
  return `0${id.slice(-1)}`;
}

export function invocationDirectory(layout: Layout, id: string): string {
  return `${layout.invocations}/${dayBucket(id)}/${shardOf(id)}/${id}`;
}

/** Files of one invocation. All but the manifest are optional. */
export const file = {
  manifest: "manifest.json",
  details: "details.json",
  artifacts: "artifacts.json",
  stdout: "stdout.log",
  stderr: "stderr.log",
  events: "events.bep",
  /** Exists only while events come through it. */
  pipe: "bep.pipe",
  /** Failed tests' logs, redacted, one JSON row per line. */
  testLogs: "failed-test-evidence.jsonl",
  /** Asks the owner, who may be another process, to cancel. */
  cancel: "cancel.json",
} as const;

/** What outcome-aware retention takes first: the raw evidence. */
export const evidenceFiles = [file.stdout, file.stderr, file.events, file.testLogs] as const;
