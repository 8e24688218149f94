import type { Clock } from "@millrace/base/clock";
import { createClient, type Invocation, type MillraceClient } from "@millrace/client/client";
import type { BuildObservation, BuildRunner, RunnerKind, RunnerWorld, TriggerRequest } from "../runner.ts";
import { classifyHttpStatus, RunnerError, type RunnerFailure } from "../runner-error.ts";
import { fetchWithin } from "./http/bounded-fetch.ts";
import { findOrStart } from "./http/find-or-start.ts";
import { filledHeaders } from "./http/request-template.ts";
import { retryAfterMs } from "./http/retry-after.ts";
import { requestHash } from "./look-up-key.ts";
import { type MillraceConfig, millraceConfig } from "./millrace-config.ts";
import { openStarter } from "./millrace-starter.ts";
import { withDetails } from "./observed.ts";

/**
 * Builds that stream into Millrace itself. The invocation id follows from the request's key, so that a second try means
 * the same invocation; the status is that of the stored invocation's latest attempt. One that has not streamed yet is
 * `accepted`: the queue's deadline ends a build whose Bazel never comes.
 */
export const millraceRunnerKind: RunnerKind<MillraceConfig> = {
  kind: "millrace",
  config: millraceConfig,
  create: (config, world) => {
    const stored = new StoredInvocations(config, world);
    const starter = openStarter(config, world);
    const trigger: BuildRunner["trigger"] = async (request, signal) => {
      const name = { project: config.project ?? request.project, invocationId: invocationIdOf(request) };
      const build = {
        buildId: `millrace/${encodeURIComponent(name.project)}/${name.invocationId}`,
        url: stored.pageOf(name),
        metadata: { invocationId: name.invocationId },
      };
      return findOrStart({
        find: async () => ((await stored.read(name, signal)).invocation === undefined ? undefined : build),
        start: async () => {
          await starter.start(request, { invocationId: name.invocationId, signal });
          return build;
        },
      });
    };
    return {
      trigger,
      status: async (buildId, signal) => {
        const name = nameOf(buildId);
        const { invocation, waitMs } = await stored.read(name, signal);
        const observation =
          invocation === undefined
            ? notStreamed(starter.ended(name.invocationId))
            : observationOf(invocation, { clock: world.clock, disconnectedMs: config.disconnected_ms });
        return withDetails(observation, { url: stored.pageOf(name), retryAfterMs: waitMs });
      },
      cancel: async (buildId, signal) => starter.cancel(nameOf(buildId).invocationId, signal),
    };
  },
};

interface InvocationName {
  readonly project: string;
  readonly invocationId: string;
}

/** Reads invocations through the API, under the limits of every other runner. */
class StoredInvocations {
  private readonly client: MillraceClient;
  private readonly server: string;
  private readonly clock: Clock;

  constructor(config: MillraceConfig, world: RunnerWorld) {
    this.server = config.server.replace(/\/$/, "");
    this.clock = world.clock;
    this.client = createClient({
      origin: this.server,
      headers: filledHeaders(config.headers, world).headers,
      fetch: fetchWithin({ clock: world.clock, limits: config.limits }, "status"),
    });
  }

  async read(
    name: InvocationName,
    signal: AbortSignal,
  ): Promise<{ invocation: Invocation | undefined; waitMs: number | undefined }> {
    const answered = this.client.GET("/projects/{project}/invocations/{invocationId}", {
      params: { path: { project: name.project, invocationId: name.invocationId } },
      signal,
    });
    const { data, response } = await answered.catch((error: unknown) => {
      if (error instanceof RunnerError) throw error;
      throw failureOf(name, { kind: "transient", answer: "a body that is no JSON" });
    });
    const waitMs = retryAfterMs(response.headers, this.clock.now());
    if (data !== undefined || response.status === 404) return { invocation: data, waitMs };
    const kind = response.ok ? "transient" : classifyHttpStatus(response.status, "status");
    throw failureOf(name, { kind, answer: String(response.status), waitMs });
  }

  pageOf(name: InvocationName): string {
    return `${this.server}/p/${encodeURIComponent(name.project)}/i/${name.invocationId}`;
  }
}

function failureOf(
  name: InvocationName,
  how: { kind: RunnerFailure; answer: string; waitMs?: number | undefined },
): RunnerError {
  return new RunnerError({
    kind: how.kind,
    message: `Millrace: invocation ${name.invocationId} of ${name.project} was answered with ${how.answer}`,
    ...(how.waitMs === undefined ? {} : { retryAfterMs: how.waitMs }),
  });
}

/**
 * A UUID (RFC 9562 version 8) that is the same for every try of one request. Bazel wants one and Millrace knows the
 * invocation by it.
 */
export function invocationIdOf(request: TriggerRequest): string {
  const hash = requestHash(request);
  const variant = (8 + (Number.parseInt(hash.charAt(16), 16) % 4)).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ].join("-");
}

function nameOf(buildId: string): InvocationName {
  const [, project, invocationId] = /^millrace\/([^/]+)\/([0-9a-f-]{36})$/.exec(buildId) ?? [];
  if (project !== undefined && invocationId !== undefined) {
    return { project: decodeURIComponent(project), invocationId };
  }
  throw new RunnerError({
    kind: "not_found",
    message: `Millrace: ${buildId} is not the id of a build there`,
  });
}

function notStreamed(ended: string | undefined): BuildObservation {
  if (ended === undefined) return { status: "accepted", providerState: "not_streamed" };
  return { status: "failed", providerState: ended, noVerdict: "never_streamed" };
}

/**
 * Exit codes by which Bazel judges what it was given: the build failed, tests failed, no tests were found, the analysis
 * failed (bazel.build/run/scripts, "Exit codes"). All others tell of the command, the machine or the network.
 */
const verdictExitCodes = new Set([1, 3, 4, 7]);

function observationOf(
  one: Pick<Invocation, "status" | "exitCode" | "exitCodeName" | "endedAt">,
  when: { clock: Clock; disconnectedMs: number },
): BuildObservation {
  const providerState = one.status;
  switch (one.status) {
    case "running":
      return { status: "running", providerState };
    case "succeeded":
      return { status: "succeeded", providerState };
    case "interrupted":
      return { status: "cancelled", providerState };
    case "failed": {
      if (one.exitCode !== null && verdictExitCodes.has(one.exitCode))
        return { status: "failed", providerState };
      return { status: "failed", providerState, noVerdict: one.exitCodeName || `exit_code_${one.exitCode}` };
    }
    case "disconnected": {
      // A later batch takes it up again, as after a break of the network.
      const isOver = when.clock.now() - Date.parse(one.endedAt) >= when.disconnectedMs;
      return isOver
        ? { status: "failed", providerState, noVerdict: "disconnected" }
        : { status: "running", providerState };
    }
    case "aborted":
      return { status: "failed", providerState, noVerdict: "aborted" };
    default:
      return { status: "unknown", providerState };
  }
}
