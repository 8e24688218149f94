import { z } from "zod";
import type { BuildObservation, BuildRunner, RunnerKind, TriggerRequest } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";

const fakeConfig = z.strictObject({
  kind: z.literal("fake"),
  /** How long a build runs unless its commit says otherwise. */
  build_ms: z.number().int().min(0).default(0),
});
type FakeConfig = z.infer<typeof fakeConfig>;

const slowMs = 3_000;

/**
 * A runner without any state: what will become of a build and when stands in its id, chosen by a word in the commit's
 * URI, so that any process can answer for it. Words: `trigger-error`, `build-fails`, `build-cancelled`, `no-verdict`,
 * `status-error`, `status-flaky`, `unknown-status`, `never-ends`, `slow`.
 */
export const fakeRunnerKind: RunnerKind<FakeConfig> = {
  kind: "fake",
  config: fakeConfig,
  create: (config, world) => {
    const runner: BuildRunner = {
      trigger: async (request) => {
        if (request.headUri.includes("trigger-error")) {
          throw new RunnerError({
            kind: "invalid",
            message: `the fake runner does not build ${request.headUri}`,
          });
        }
        const runsMs = request.headUri.includes("slow") ? slowMs : config.build_ms;
        return { buildId: `fake/${world.clock.now() + runsMs}/${endOf(request)}/${request.key}` };
      },
      status: async (buildId) => observe(buildId, world.clock.now()),
      cancel: async () => {},
    };
    return runner;
  },
};

const ends = [
  ["build-fails", "failed"],
  ["build-cancelled", "cancelled"],
  ["no-verdict", "skipped"],
  ["status-error", "gone"],
  ["status-flaky", "flaky"],
  ["unknown-status", "unknown"],
  ["never-ends", "running"],
] as const;

function endOf(request: TriggerRequest): string {
  return ends.find(([word]) => request.headUri.includes(word))?.[1] ?? "succeeded";
}

function observe(buildId: string, nowMs: number): BuildObservation {
  const match = /^fake\/(\d+)\/([a-z]+)\//.exec(buildId);
  if (match === null || match[2] === "gone") {
    throw new RunnerError({ kind: "not_found", message: `the fake runner does not know ${buildId}` });
  }
  if (match[2] === "flaky") throw new RunnerError({ kind: "transient", message: "the fake runner is away" });
  if (nowMs < Number(match[1])) return { status: "running", providerState: "running" };
  return endings[match[2] ?? ""] ?? { status: "unknown", providerState: match[2] ?? "" };
}

const endings: Readonly<Record<string, BuildObservation>> = {
  succeeded: { status: "succeeded", providerState: "passed" },
  failed: { status: "failed", providerState: "failed" },
  cancelled: { status: "cancelled", providerState: "canceled" },
  skipped: { status: "failed", providerState: "skipped", noVerdict: "skipped" },
  running: { status: "running", providerState: "running" },
};
