import type { SignalRequest } from "@millrace/client/client";
import type { StatusLook } from "../status/status.ts";

/** A request as people see it: green and broken are verdicts, everything else says that there is none. */
export function requestLook(request: Pick<SignalRequest, "state" | "reason">): StatusLook {
  switch (request.state) {
    case "accepted":
      return { word: "Waiting", tone: "quiet", glyph: "dot" };
    case "processing":
      return { word: "Validating", tone: "running", glyph: "ring" };
    case "superseded":
      return { word: "Superseded", tone: "quiet", glyph: "skip" };
    case "cancelled":
      return { word: "Cancelled", tone: "quiet", glyph: "stop" };
    case "succeeded":
      return { word: "Green", tone: "passed", glyph: "check" };
    case "failed":
      if (request.reason === null) return { word: "Broken", tone: "failed", glyph: "cross" };
      if (request.reason === "timed_out") return { word: "Timed out", tone: "flaky", glyph: "clock" };
      return { word: "No verdict", tone: "flaky", glyph: "dash" };
  }
}

const reasons: Readonly<Record<string, string>> = {
  timed_out: "Its build was not over by its deadline.",
  processing_failed: "Its build could not be started.",
  build_polling_exhausted: "Its runner could not be asked how the build went.",
  cancelled_by_operator: "An operator cancelled it.",
  never_streamed: "Its build never streamed into Millrace.",
  disconnected: "The stream of its build broke off.",
  skipped: "Its build was skipped.",
};

/** A reason as a sentence; a word that is newer than this page, or a runner's own, stays what it is. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason.replaceAll("_", " ");
}

/** The short form of a commit's URI: the first eight digits of its hash, where it ends with one. */
export function commitText(uri: string): string {
  return /[0-9a-f]{9,64}$/.exec(uri)?.[0].slice(0, 8) ?? uri;
}
