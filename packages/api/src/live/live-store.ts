import type { QueryRecord } from "@millrace/base/query/match-query";
import type { WatchedState } from "../queries/watch.ts";
import type { Build } from "../resources/build.ts";
import type { ChangedName } from "./changes.ts";

/** A build as it is told, and what queries see of it. */
export interface LiveBuild {
  readonly build: Build;
  readonly record: QueryRecord;
}

/** What the hub reads: committed rows, for all viewers of this process at once. */
export interface LiveStore {
  /** Latest attempts of these invocations, as lists show them. */
  builds(project: string, invocationIds: readonly string[]): Promise<LiveBuild[]>;
  /** Where these invocations stand, in one statement. */
  watched(names: readonly ChangedName[]): Promise<WatchedState[]>;
  /** What runs in these projects and what began after attempt `newest`, in one statement. */
  running(projects: readonly string[], newest: number): Promise<WatchedState[]>;
  newest(): Promise<number>;
}
