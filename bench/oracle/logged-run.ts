import { type BuildRecord, readBuilds, readRunLog } from "../load/run-log.ts";

/** What the generator's logs tell, of all its processes together. */
export interface LoggedRun {
  /** When the first process began. */
  readonly startedAtMs: number;
  /** By invocation id. */
  readonly builds: ReadonlyMap<string, BuildRecord>;
}

/** Reads run logs. Rejects when one has no line that says when it began, or when two tell of the same invocation. */
export async function readLoggedRun(files: readonly string[]): Promise<LoggedRun> {
  const builds = new Map<string, BuildRecord>();
  let startedAtMs = Number.POSITIVE_INFINITY;
  for (const file of files) {
    for await (const line of readRunLog(file)) {
      if (line.kind === "run") startedAtMs = Math.min(startedAtMs, line.startedAtMs);
    }
    for (const record of await readBuilds(file)) {
      const { invocationId } = record.build;
      if (builds.has(invocationId)) throw new Error(`${invocationId} is in the logs twice`);
      builds.set(invocationId, record);
    }
  }
  if (!Number.isFinite(startedAtMs)) throw new Error("no log says when the run began");
  return { startedAtMs, builds };
}

/** The last event that may be stored: what was sent, or all where the generator did not live to say. */
export function sentOf({ build, end }: BuildRecord): number {
  return end?.sent ?? build.events;
}

/** The upload went well, as far as its client saw: everything must be there. */
export function isDone({ end }: BuildRecord): boolean {
  return end?.outcome === "done";
}
