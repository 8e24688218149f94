import type { TriggeredBuild } from "../../runner.ts";
import { RunnerError } from "../../runner-error.ts";

/** How one service starts builds. */
export interface Starting {
  /** Looks for a build that carries the request's key; absent when the service cannot. */
  readonly find?: (() => Promise<TriggeredBuild | undefined>) | undefined;
  readonly start: () => Promise<TriggeredBuild>;
  /** After so long a build that was started is found at the latest. */
  readonly visibleAfterMs?: number;
}

/**
 * Starts a build once per key, where the service can find builds by key. An answer that got lost is found again in two
 * places: right after a failure that may have started the build, and before the next try starts one. Without `find` such
 * a failure stays `uncertain`, which nobody tries again.
 */
export async function findOrStart(how: Starting): Promise<TriggeredBuild> {
  if (how.find === undefined) return how.start();
  const earlier = await how.find();
  if (earlier !== undefined) return earlier;
  try {
    return await how.start();
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    if (error.kind === "transient") throw later(error, how);
    if (error.kind !== "uncertain") throw error;
    // A look-up that fails says nothing; what the start met says more.
    const started = await how.find().catch(() => undefined);
    if (started !== undefined) return started;
    throw later(error, how);
  }
}

/** To be tried again, once a build that was started is found. */
function later(error: RunnerError, { visibleAfterMs = 0 }: Starting): RunnerError {
  const retryAfterMs = Math.max(error.retryAfterMs ?? 0, visibleAfterMs);
  return new RunnerError({
    kind: "transient",
    message: error.kind === "uncertain" ? `${error.message}; no build carries the key yet` : error.message,
    ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
    cause: error,
  });
}
