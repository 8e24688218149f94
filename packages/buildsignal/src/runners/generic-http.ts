import type { BuildObservation, BuildRunner, RunnerKind, TriggeredBuild, TriggerRequest } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import { anyJson, type GenericHttpConfig, genericHttpConfig } from "./generic-http-config.ts";
import { findOrStart } from "./http/find-or-start.ts";
import { HttpService } from "./http/http-service.ts";
import { textAt } from "./http/pointer.ts";
import { askTemplate, filledHeaders } from "./http/request-template.ts";
import { triggerValues } from "./http/template.ts";
import { withDetails } from "./observed.ts";

const buildIdLengthMax = 500;

/**
 * A build service that is described by configuration: templates of the requests, JSON pointers into the answers, and a
 * table from the service's words to statuses. With `find` a lost answer is found again by the request's key.
 */
export const genericHttpRunnerKind: RunnerKind<GenericHttpConfig> = {
  kind: "generic-http",
  config: genericHttpConfig,
  create: (config, world) => {
    const { headers, secrets } = filledHeaders(config.headers, world);
    const service = new HttpService({
      name: config.name,
      baseUrl: config.base_url,
      headers,
      secrets,
      limits: config.limits,
      clock: world.clock,
    });
    return genericRunner(config, service);
  },
};

function genericRunner(config: GenericHttpConfig, service: HttpService): BuildRunner {
  const { cancel } = config;
  return {
    trigger: (request, signal) => trigger({ config, service }, { request, signal }),
    status: async (buildId, signal) => {
      const values = { build_id: ownIdOf(buildId) };
      const answer = await askTemplate(service, config.status.request, { call: "status", values, signal });
      const body = answer.read(anyJson);
      const url = config.status.url === undefined ? undefined : textAt(body, config.status.url);
      return withDetails(observationOf(config, body), { url, retryAfterMs: answer.waitMs });
    },
    cancel: async (buildId, signal) => {
      if (cancel === undefined) return;
      const values = { build_id: ownIdOf(buildId) };
      await askTemplate(service, cancel.request, { call: "cancel", values, accept: cancel.ended, signal });
    },
  };
}

async function trigger(
  on: { config: GenericHttpConfig; service: HttpService },
  ask: { request: TriggerRequest; signal: AbortSignal },
): Promise<TriggeredBuild> {
  const { find, trigger: how } = on.config;
  const values = triggerValues(ask.request);
  const identified = (
    body: unknown,
    at: { id: string; url?: string | undefined },
  ): TriggeredBuild | undefined => {
    const own = textAt(body, at.id);
    const url = at.url === undefined ? undefined : textAt(body, at.url);
    return own === undefined ? undefined : { buildId: idOf(ask.request.queue, own), ...(url ? { url } : {}) };
  };
  const started = async (): Promise<TriggeredBuild> => {
    const answer = await askTemplate(on.service, how.request, {
      call: "trigger",
      values,
      signal: ask.signal,
    });
    const build = identified(answer.read(anyJson), how);
    if (build !== undefined) return build;
    throw new RunnerError({
      kind: "uncertain",
      message: `${on.config.name}: the answer has no id at ${how.id}`,
    });
  };
  const found = async (at: NonNullable<typeof find>): Promise<TriggeredBuild | undefined> => {
    const answer = await askTemplate(on.service, at.request, {
      call: "status",
      values,
      accept: [404],
      signal: ask.signal,
    });
    return answer.status === 404 ? undefined : identified(answer.read(anyJson), at);
  };
  return findOrStart({
    find: find === undefined ? undefined : () => found(find),
    start: how.key_is_idempotent ? () => retryable(started) : started,
  });
}

/** The service starts one build per key: after any failure the same request may be sent again. */
async function retryable<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof RunnerError) || error.kind !== "uncertain") throw error;
    const { message, retryAfterMs } = error;
    throw new RunnerError({
      kind: "transient",
      message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      cause: error,
    });
  }
}

function observationOf(config: GenericHttpConfig, body: unknown): BuildObservation {
  const { state, states } = config.status;
  const pointers = typeof state === "string" ? [state] : state;
  const word = pointers.map((pointer) => textAt(body, pointer)).find((text) => text !== undefined) ?? "";
  const meant = Object.hasOwn(states, word) ? states[word] : undefined;
  if (meant === "no_verdict") return { status: "failed", providerState: word, noVerdict: word };
  return { status: meant ?? "unknown", providerState: word };
}

/** The service's own ids are unique inside a queue at best. */
function idOf(queue: string, own: string): string {
  const id = `http/${encodeURIComponent(queue)}/${own}`;
  if (id.length <= buildIdLengthMax) return id;
  throw new RunnerError({
    kind: "invalid",
    message: `the service's id of the build has ${own.length} characters`,
  });
}

function ownIdOf(buildId: string): string {
  const own = /^http\/[^/]+\/(.+)$/s.exec(buildId)?.[1];
  if (own !== undefined) return own;
  throw new RunnerError({ kind: "not_found", message: `${buildId} is not the id of a build of this runner` });
}
