import type { Reduced } from "../reduce/reduced.ts";
import type { RunOutcome, RunResult, State, Termination } from "../store/record.ts";

/** What became of the program of a `bazel run`. */
export function runResult(at: {
  target: string;
  reduced: Reduced;
  state: State;
  termination: Termination;
  excerpt: readonly string[];
}): RunResult {
  const { termination } = at;
  const outcome = outcomeOf(at);
  const hasProgramExit = outcome === "succeeded" || outcome === "program_failed";
  return {
    target: at.target,
    outcome,
    ...(hasProgramExit && termination.kind === "exit" ? { program_exit_code: termination.code } : {}),
    ...(at.excerpt.length === 0 ? {} : { output_excerpt: at.excerpt }),
  };
}

function outcomeOf(at: { reduced: Reduced; state: State; termination: Termination }): RunOutcome {
  // The build's end is announced before the program starts, with success only if there is something to start.
  const isBuilt = at.reduced.overallSuccess === true;
  const phase = isBuilt ? "program" : "build";
  if (at.termination.kind === "output_limit") return `output_limit_during_${phase}`;
  if (at.state === "timed_out") return `timed_out_during_${phase}`;
  if (at.state === "cancelled" || at.state === "interrupted") return `cancelled_during_${phase}`;
  if (!isBuilt) return "build_failed";
  if (at.reduced.shouldExec === false) return "not_launched";
  return at.state === "succeeded" ? "succeeded" : "program_failed";
}
