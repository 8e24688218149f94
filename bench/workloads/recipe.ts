import type { build_event_stream } from "@millrace/proto/gen/bep";
import type { WorkloadName } from "./workload.ts";

/** The name of a BEP payload. */
type Kind = Exclude<build_event_stream.BuildEvent["payload"], undefined>;

/** How many events of each kind a build has; with the end of the stream these are all. */
export type Recipe = Readonly<Record<keyof typeof counts, number>>;

/**
 * What a build consists of. Kinds and proportions follow recorded runs of Bazel 7 with --keep_going, a remote cache,
 * --build_event_publish_all_actions and --runs_per_test (test/corpus); those have at most 41 targets or are made of one
 * kind, so the numbers are those of a mid-sized project: about two thirds of its targets have files of their own, a
 * third of its events is console output. Tests have 12 results for 7 summaries: shards, runs and attempts. In log
 * builds three quarters of the events are console output, as with --test_output=all or a verbose compiler.
 */
const counts = {
  // tiny, real, huge, log
  started: [1, 1, 1, 1],
  buildMetadata: [1, 1, 1, 1],
  unstructuredCommandLine: [1, 1, 1, 1],
  optionsParsed: [1, 1, 1, 1],
  structuredCommandLine: [3, 3, 3, 3],
  expanded: [1, 1, 1, 1],
  workspaceInfo: [1, 1, 1, 1],
  workspaceStatus: [1, 1, 1, 1],
  configuration: [2, 3, 3, 2],
  fetch: [0, 4, 4, 0],
  configured: [6, 113, 100_000, 12],
  namedSetOfFiles: [3, 82, 90_000, 6],
  action: [1, 48, 40_000, 4],
  completed: [6, 113, 100_000, 12],
  aborted: [0, 2, 2, 0],
  testResult: [3, 12, 25_000, 6],
  testSummary: [2, 7, 20_000, 4],
  progress: [6, 201, 124_976, 189],
  finished: [1, 1, 1, 1],
  buildMetrics: [1, 1, 1, 1],
  buildToolLogs: [1, 1, 1, 1],
  convenienceSymlinksIdentified: [1, 1, 1, 1],
} as const satisfies Partial<Record<Kind, readonly [number, number, number, number]>>;

/** The recipe of a workload: its column of the table above. */
export function recipeOf(name: WorkloadName): Recipe {
  const column = { tiny: 0, real: 1, huge: 2, log: 3 }[name];
  return Object.fromEntries(Object.entries(counts).map(([kind, row]) => [kind, row[column]])) as Recipe;
}

/** Events of one build, the end of the stream included. */
export function eventsOf(recipe: Recipe): number {
  return Object.values(recipe).reduce((sum, count) => sum + count, 1);
}
