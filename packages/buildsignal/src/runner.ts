import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import type { z } from "zod";

/** What a build can be. The last three are terminal; `unknown` says nothing and is never stored over a status. */
export const buildStatuses = ["unknown", "accepted", "running", "succeeded", "failed", "cancelled"] as const;
export type BuildStatus = (typeof buildStatuses)[number];
export type TerminalStatus = "succeeded" | "failed" | "cancelled";

export function isTerminalStatus(status: BuildStatus): status is TerminalStatus {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}

/** What a build is to be started with. */
export interface TriggerRequest {
  readonly queue: string;
  readonly project: string;
  /** The last green commit for an incremental build; empty: a full build. */
  readonly baseUri: string;
  /** The commit to build. */
  readonly headUri: string;
  /**
   * The same for every try of one hand-over, another one for every other. A runner whose service can look builds up
   * hands it to the service, looks for a build that carries it before it starts one, and answers that one.
   */
  readonly key: string;
  /** Supplied by the caller, echoed by the provider where it can; not interpreted. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface TriggeredBuild {
  /** Minted by the runner, opaque, 1 to 500 characters; `status` of any process understands it. */
  readonly buildId: string;
  /** The provider's page about the build. */
  readonly url?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What the provider says about a build now. */
export interface BuildObservation {
  readonly status: BuildStatus;
  /** The provider's own word for it, such as `blocked` or `not_run`; shown and logged, not interpreted. */
  readonly providerState?: string;
  /**
   * Only beside a terminal status: the build ended and says nothing about the commit (skipped, neutral, never run).
   * A word that becomes the request's reason; no fact is recorded.
   */
  readonly noVerdict?: string;
  readonly url?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The provider asked not to be polled again before so many milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * A place where builds run. It keeps no durable state: any process can ask for any build. Failures are `RunnerError`s;
 * anything else that is thrown counts as a mistake of ours and is not tried again.
 *
 * Each call ends soon after `signal` is aborted, at the latest after the runner's own time limit.
 */
export interface BuildRunner {
  /**
   * Starts a build and returns promptly. A failure after which a build may exist (HTTP 500, 502, 504) is not
   * retryable unless the runner can look the build up by `request.key`.
   */
  trigger(request: TriggerRequest, signal: AbortSignal): Promise<TriggeredBuild>;
  /** A build that the provider does not know is a `RunnerError` of kind `not_found`, never a status. */
  status(buildId: string, signal: AbortSignal): Promise<BuildObservation>;
  /** Resolves when the provider has the request to cancel; a build that has ended is left alone. */
  cancel(buildId: string, signal: AbortSignal): Promise<void>;
}

/** What a runner is built with. */
export interface RunnerWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** A credential by its name in the file of secrets; undefined when there is none. Never in logs or errors. */
  secret(name: string): string | undefined;
}

/** A kind of runner that queue configuration can name: `{ "kind": "buildkite", … }`. */
export interface RunnerKind<C extends { kind: string }> {
  readonly kind: C["kind"];
  /** The runner's part of a queue's configuration, `kind` included. Credentials stand there by name only. */
  readonly config: z.ZodType<C>;
  /** Connects to nothing. Fails with a `RunnerError` of kind `invalid` when e.g. a secret is missing. */
  create(config: C, world: RunnerWorld): BuildRunner;
}
