import { unreachable } from "@millrace/base/assert";
import { loopDeaths, restMs, wellAfterMs } from "./rest-times.ts";

/**
 * Where a supervised part stands. `deaths` counts those in a row that came soon after the start.
 *
 * - `idle`: not started yet.
 * - `failed`: its very first start failed, which is for a person to repair; it is not tried again.
 * - `resting`: waits to be started again.
 * - `given-up`: it died and restarting is switched off.
 */
export type PartState =
  | { readonly kind: "idle" | "failed" | "given-up" | "stopping" | "stopped" }
  | { readonly kind: "starting"; readonly deaths: number; readonly isFirst: boolean }
  | { readonly kind: "running"; readonly deaths: number; readonly readyAtMs: number }
  | { readonly kind: "resting"; readonly deaths: number };

export type PartInput =
  | { readonly kind: "start" | "rested" | "stop" }
  /** The process is ready. */
  | { readonly kind: "came-up"; readonly atMs: number }
  /** The process died before it was ready, or could not be started. */
  | { readonly kind: "did-not-come-up" }
  /** A process that was ready died. */
  | { readonly kind: "died"; readonly atMs: number };

export type PartEffect =
  | { readonly kind: "launch" }
  /** Come back with `rested`. */
  | { readonly kind: "rest"; readonly delayMs: number }
  | { readonly kind: "cancel-rest" }
  /** End the process, or break its start off; `died` or `did-not-come-up` follows. */
  | { readonly kind: "end" }
  | { readonly kind: "tell"; readonly news: PartNews };

/** What a person should know. */
export type PartNews =
  | { readonly kind: "back" | "stopped" | "failed" | "given-up" }
  | {
      readonly kind: "restarting";
      readonly delayMs: number;
      readonly deaths: number;
      readonly isLoop: boolean;
    };

export interface Step {
  readonly state: PartState;
  readonly effects: readonly PartEffect[];
}

/** One step of a part's life. Pure: time comes with the inputs. An input that means nothing here changes nothing. */
export function nextPartState(
  state: PartState,
  input: PartInput,
  policy: { readonly restarts: boolean },
): Step {
  switch (input.kind) {
    case "start":
      return state.kind === "idle" ? launch({ deaths: 0, isFirst: true }) : same(state);
    case "rested":
      return state.kind === "resting" ? launch({ deaths: state.deaths, isFirst: false }) : same(state);
    case "came-up":
      return cameUp(state, input.atMs);
    case "did-not-come-up":
      return didNotComeUp(state, policy);
    case "died":
      return died(state, input.atMs, policy);
    case "stop":
      return stop(state);
    default:
      return unreachable(input);
  }
}

function same(state: PartState): Step {
  return { state, effects: [] };
}

function launch(how: { deaths: number; isFirst: boolean }): Step {
  return { state: { kind: "starting", ...how }, effects: [{ kind: "launch" }] };
}

function cameUp(state: PartState, readyAtMs: number): Step {
  if (state.kind !== "starting") {
    // It was told to stop while it started, and came up all the same.
    return { state, effects: state.kind === "stopping" ? [{ kind: "end" }] : [] };
  }
  const effects: PartEffect[] = state.isFirst ? [] : [{ kind: "tell", news: { kind: "back" } }];
  return { state: { kind: "running", deaths: state.deaths, readyAtMs }, effects };
}

function didNotComeUp(state: PartState, policy: { restarts: boolean }): Step {
  if (state.kind === "stopping") return stopped();
  if (state.kind !== "starting") return same(state);
  if (state.isFirst) {
    return { state: { kind: "failed" }, effects: [{ kind: "tell", news: { kind: "failed" } }] };
  }
  return rest(state.deaths + 1, policy);
}

function died(state: PartState, atMs: number, policy: { restarts: boolean }): Step {
  if (state.kind === "stopping") return stopped();
  if (state.kind !== "running") return same(state);
  return rest(atMs - state.readyAtMs >= wellAfterMs ? 1 : state.deaths + 1, policy);
}

function rest(deaths: number, policy: { restarts: boolean }): Step {
  if (!policy.restarts) {
    return { state: { kind: "given-up" }, effects: [{ kind: "tell", news: { kind: "given-up" } }] };
  }
  const delayMs = restMs(deaths);
  const news: PartNews = { kind: "restarting", delayMs, deaths, isLoop: deaths >= loopDeaths };
  return {
    state: { kind: "resting", deaths },
    effects: [
      { kind: "tell", news },
      { kind: "rest", delayMs },
    ],
  };
}

function stop(state: PartState): Step {
  if (state.kind === "running" || state.kind === "starting") {
    return { state: { kind: "stopping" }, effects: [{ kind: "end" }] };
  }
  if (state.kind === "resting") {
    return { ...stopped(), effects: [{ kind: "cancel-rest" }, ...stopped().effects] };
  }
  return state.kind === "stopping" || state.kind === "stopped" ? same(state) : stopped();
}

function stopped(): Step {
  return { state: { kind: "stopped" }, effects: [{ kind: "tell", news: { kind: "stopped" } }] };
}
