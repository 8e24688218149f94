import type { BuildStatus, TargetStatus } from "@millrace/client/client";

/** What a colour may mean. */
export type Tone = "passed" | "failed" | "flaky" | "running" | "quiet";

/** The sign that stands beside the colour, so that nobody needs to see it. */
export type Glyph =
  | "check"
  | "cross"
  | "wave"
  | "ring"
  | "dash"
  | "stop"
  | "break"
  | "clock"
  | "dot"
  | "skip";

export interface StatusLook {
  readonly word: string;
  readonly tone: Tone;
  readonly glyph: Glyph;
}

export const buildLooks: Readonly<Record<BuildStatus, StatusLook>> = {
  running: { word: "Running", tone: "running", glyph: "ring" },
  succeeded: { word: "Passed", tone: "passed", glyph: "check" },
  failed: { word: "Failed", tone: "failed", glyph: "cross" },
  interrupted: { word: "Cancelled", tone: "quiet", glyph: "stop" },
  disconnected: { word: "Disconnected", tone: "quiet", glyph: "break" },
  aborted: { word: "Aborted", tone: "failed", glyph: "stop" },
};

export const targetLooks: Readonly<Record<TargetStatus, StatusLook>> = {
  configured: { word: "Pending", tone: "quiet", glyph: "dot" },
  skipped: { word: "Skipped", tone: "quiet", glyph: "skip" },
  "not-built": { word: "Not built", tone: "quiet", glyph: "dash" },
  aborted: { word: "Aborted", tone: "quiet", glyph: "stop" },
  built: { word: "Built", tone: "passed", glyph: "check" },
  failed: { word: "Failed", tone: "failed", glyph: "cross" },
};

const testLooks: Readonly<Record<string, StatusLook>> = {
  NO_STATUS: { word: "No status", tone: "quiet", glyph: "dash" },
  PASSED: { word: "Passed", tone: "passed", glyph: "check" },
  FLAKY: { word: "Flaky", tone: "flaky", glyph: "wave" },
  TIMEOUT: { word: "Timed out", tone: "failed", glyph: "clock" },
  FAILED: { word: "Failed", tone: "failed", glyph: "cross" },
  INCOMPLETE: { word: "Cancelled", tone: "quiet", glyph: "stop" },
  REMOTE_FAILURE: { word: "Remote failure", tone: "failed", glyph: "cross" },
  FAILED_TO_BUILD: { word: "Failed to build", tone: "failed", glyph: "cross" },
  TOOL_HALTED_BEFORE_TESTING: { word: "Not run", tone: "quiet", glyph: "dash" },
};

/** Statuses under which a test counts as failed. */
export const failedTestStatuses = ["FAILED", "TIMEOUT", "REMOTE_FAILURE", "FAILED_TO_BUILD"];

/** A status that is newer than this page shows as Bazel wrote it. */
export function testLook(status: string): StatusLook {
  return testLooks[status] ?? { word: status, tone: "quiet", glyph: "dash" };
}
