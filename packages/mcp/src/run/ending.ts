import { emptySummary, type Invocation, type State, type Termination } from "../store/record.ts";
import type { ChildEnd } from "./child.ts";

/** Why a run is to end before Bazel does. */
export type StopReason =
  | { readonly kind: "cancelled"; readonly text: string }
  | { readonly kind: "timed_out" }
  | { readonly kind: "output_limit" };

/** How a run ended: what the record says of it, and in words for the headline. */
export interface RunEnding {
  readonly termination: Termination;
  readonly state: State;
  /** "" when Bazel ended by itself and said why. */
  readonly reason: string;
}

/** Puts together how the process ended and why we wanted it to. */
export function runEnding(
  end: ChildEnd,
  at: { stop: StopReason | undefined; timeoutMs: number; outputBytesMax: number },
): RunEnding {
  const termination = terminationOf(end, at);
  return { termination, state: stateOf(termination), reason: reasonOf(termination, at) };
}

function terminationOf(
  end: ChildEnd,
  at: { stop: StopReason | undefined; outputBytesMax: number },
): Termination {
  if (end.kind === "spawn_failure") return end;
  // A command that ended by itself just before the stop took effect has its own result.
  if (end.kind === "exit" && end.code === 0) return end;
  switch (at.stop?.kind) {
    case "cancelled":
      return { kind: "cancelled" };
    case "timed_out":
      return { kind: "timeout" };
    case "output_limit":
      return { kind: "output_limit", maximum_bytes: at.outputBytesMax };
    default:
      return end;
  }
}

function stateOf(termination: Termination): State {
  if (termination.kind === "exit") return termination.code === 0 ? "succeeded" : "failed";
  if (termination.kind === "cancelled") return "cancelled";
  return termination.kind === "timeout" ? "timed_out" : "failed";
}

function reasonOf(termination: Termination, at: { stop: StopReason | undefined; timeoutMs: number }): string {
  switch (termination.kind) {
    case "cancelled":
      return at.stop?.kind === "cancelled" ? at.stop.text : "";
    case "timeout":
      return `after ${at.timeoutMs / 1000} s`;
    case "output_limit":
      return `the program printed more than ${termination.maximum_bytes} bytes and was stopped`;
    case "signal":
      return `Bazel was ended by ${termination.signal}`;
    case "spawn_failure":
      return `Bazel could not be started: ${termination.message}`;
    default:
      return "";
  }
}

type FinalFields = Pick<
  Invocation,
  "state" | "finished_at_ms" | "termination" | "summary" | "cancellation_reason"
>;

/** The end of a run that was cancelled while it waited. */
export function unstarted(reason: string, nowMs: number): FinalFields {
  return {
    state: "cancelled",
    finished_at_ms: nowMs,
    termination: { kind: "cancelled" },
    cancellation_reason: reason,
    summary: emptySummary(`Cancelled before Bazel was started${reason === "" ? "" : `: ${reason}`}`),
  };
}

/** The end of a run in which something of ours failed. */
export function broken(message: string, nowMs: number): FinalFields {
  return {
    state: "failed",
    finished_at_ms: nowMs,
    termination: { kind: "spawn_failure", message },
    summary: emptySummary(`The server could not finish this invocation: ${message}`),
  };
}
