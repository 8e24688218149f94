import { z } from "zod";
import type { BuildObservation, BuildRunner, RunnerKind, TriggeredBuild, TriggerRequest } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import { findOrStart } from "./http/find-or-start.ts";
import { HttpService } from "./http/http-service.ts";
import { httpLimits, secretName, serviceUrl } from "./http/limits.ts";
import { numberIn, sparingMs } from "./http/request-budget.ts";
import { retryAfterMs } from "./http/retry-after.ts";
import { fillText, pathSegment, template, triggerValues } from "./http/template.ts";
import { lookUpKey } from "./look-up-key.ts";
import { neededSecret } from "./needed-secret.ts";
import { observed, withDetails } from "./observed.ts";

const slug = z
  .string()
  .regex(/^[a-z0-9-]{1,100}$/, { message: "a slug has small letters, digits and dashes" });

const buildkiteConfig = z.strictObject({
  kind: z.literal("buildkite"),
  base_url: serviceUrl.default("https://api.buildkite.com/v2"),
  organization: slug,
  pipeline: slug,
  /** An API access token with `read_builds` and `write_builds`. */
  token_secret: secretName,
  branch: template.default("main"),
  commit: template.default("{head_commit}"),
  message: template.default("Millrace validates {head_commit}"),
  /** Environment variables of the build, beside the `MILLRACE_` ones. */
  env: z.record(z.string(), template).default({}),
  limits: httpLimits,
});
type BuildkiteConfig = z.infer<typeof buildkiteConfig>;

/** What a state of a build means (buildkite.com/docs/apis/rest-api/builds, "Build data model" and `state` filter). */
const states: Readonly<Record<string, BuildObservation>> = {
  creating: { status: "accepted" },
  scheduled: { status: "accepted" },
  waiting: { status: "running" },
  running: { status: "running" },
  failing: { status: "running" },
  blocked: { status: "running" },
  // Jobs still run and hold what the queue's slot stands for; `canceled` follows.
  canceling: { status: "running" },
  passed: { status: "succeeded" },
  failed: { status: "failed" },
  waiting_failed: { status: "failed" },
  canceled: { status: "cancelled" },
  skipped: { status: "failed", noVerdict: "skipped" },
  not_run: { status: "failed", noVerdict: "not_run" },
};

const build = z.object({
  number: z.number().int().positive(),
  state: z.string().default(""),
  blocked: z.boolean().nullish(),
  web_url: z.string().nullish(),
  env: z.record(z.string(), z.unknown()).nullish(),
});
type Build = z.infer<typeof build>;

/**
 * Builds of a Buildkite pipeline. The request's key travels as the meta-data `millrace-key`, by which builds can be
 * listed: a build whose answer got lost is found again and not started twice.
 */
export const buildkiteRunnerKind: RunnerKind<BuildkiteConfig> = {
  kind: "buildkite",
  config: buildkiteConfig,
  create: (config, world) => {
    const token = neededSecret(world, config.token_secret);
    const service = new HttpService({
      name: "Buildkite",
      baseUrl: config.base_url,
      headers: { authorization: `Bearer ${token}` },
      secrets: [token],
      limits: config.limits,
      clock: world.clock,
      waitMs,
    });
    return buildkiteRunner(config, service);
  },
};

function buildkiteRunner(config: BuildkiteConfig, service: HttpService): BuildRunner {
  const builds = `organizations/${config.organization}/pipelines/${config.pipeline}/builds`;
  const identified = (one: Build): TriggeredBuild => ({
    buildId: `buildkite/${config.organization}/${config.pipeline}/${one.number}`,
    ...(one.web_url ? { url: one.web_url } : {}),
  });
  const find = async (request: TriggerRequest, signal: AbortSignal): Promise<TriggeredBuild | undefined> => {
    const query = new URLSearchParams({
      [`meta_data[${keyName}]`]: lookUpKey(request),
      per_page: "1",
      ...without,
    });
    const answer = await service.ask({ call: "status", method: "GET", path: `${builds}?${query}`, signal });
    const [newest] = answer.read(z.array(build));
    return newest === undefined ? undefined : identified(newest);
  };
  const start = async (request: TriggerRequest, signal: AbortSignal): Promise<TriggeredBuild> => {
    const json = buildOf(config, request);
    const answer = await service.ask({ call: "trigger", method: "POST", path: builds, json, signal });
    return identified(answer.read(build));
  };
  return {
    trigger: (request, signal) =>
      findOrStart({ find: () => find(request, signal), start: () => start(request, signal) }),
    status: async (buildId, signal) => {
      const path = `${pathOf(buildId)}?${new URLSearchParams(without)}`;
      const answer = await service.ask({ call: "status", method: "GET", path, signal });
      return withDetails(observationOf(answer.read(build)), { retryAfterMs: answer.waitMs });
    },
    cancel: async (buildId, signal) => {
      // 422: it has ended, or is being cancelled.
      await service.ask({
        call: "cancel",
        method: "PUT",
        path: `${pathOf(buildId)}/cancel`,
        accept: [422],
        signal,
      });
    },
  };
}

/** An organization has 200 requests a minute in all (buildkite.com/docs/apis/rest-api/limits). */
function waitMs(headers: Headers, nowMs: number): number | undefined {
  const asked = retryAfterMs(headers, nowMs);
  const limit = numberIn(headers, "ratelimit-limit");
  const remaining = numberIn(headers, "ratelimit-remaining");
  const resetSeconds = numberIn(headers, "ratelimit-reset");
  if (asked !== undefined || remaining === undefined || resetSeconds === undefined) return asked;
  return sparingMs({ limit: limit ?? 0, remaining, resetMs: Math.min(3_600, resetSeconds) * 1_000 });
}

const keyName = "millrace-key";
/** A large build's jobs are megabytes that nobody reads here. */
const without = { exclude_jobs: "true", exclude_pipeline: "true" };

function buildOf(config: BuildkiteConfig, request: TriggerRequest): unknown {
  const values = triggerValues(request);
  const own = Object.entries(config.env).map(([name, text]) => [name, fillText(text, values)]);
  return {
    commit: fillText(config.commit, values),
    branch: fillText(config.branch, values),
    message: fillText(config.message, values),
    env: {
      ...Object.fromEntries(own),
      MILLRACE_QUEUE: request.queue,
      MILLRACE_HEAD_URI: request.headUri,
      MILLRACE_BASE_URI: request.baseUri,
      MILLRACE_METADATA: JSON.stringify(request.metadata),
    },
    meta_data: { [keyName]: lookUpKey(request) },
  };
}

function pathOf(buildId: string): string {
  const [kind, organization, pipeline, number, ...more] = buildId.split("/");
  if (kind !== "buildkite" || !organization || !pipeline || !/^\d+$/.test(number ?? "") || more.length > 0) {
    throw new RunnerError({
      kind: "not_found",
      message: `Buildkite: ${buildId} is not the id of a build there`,
    });
  }
  return `organizations/${pathSegment(organization)}/pipelines/${pathSegment(pipeline)}/builds/${number}`;
}

function observationOf(one: Build): BuildObservation {
  // A build that stands at a block step says `passed` when all before it did; it has not ended.
  const state = one.blocked === true && one.state === "passed" ? "blocked" : one.state;
  return withDetails(observed(states, state), {
    url: one.web_url,
    metadata: metadataOf(one.env?.["MILLRACE_METADATA"]),
  });
}

/** What `trigger` handed over, echoed; undefined when somebody else set the variable. */
function metadataOf(text: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return z.record(z.string(), z.string()).safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // Not JSON: not ours.
  }
}
