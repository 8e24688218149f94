import { z } from "zod";
import type { BuildObservation, BuildRunner, RunnerKind, TriggeredBuild, TriggerRequest } from "../runner.ts";
import { classifyHttpStatus, type RunnerCall, RunnerError, type RunnerFailure } from "../runner-error.ts";
import { ConditionalReads } from "./http/conditional-reads.ts";
import { findOrStart } from "./http/find-or-start.ts";
import { type HttpHead, HttpService } from "./http/http-service.ts";
import { httpLimits, secretName, serviceUrl } from "./http/limits.ts";
import { numberIn, sparingMs } from "./http/request-budget.ts";
import { retryAfterMs, untilEpochSecondsMs } from "./http/retry-after.ts";
import { fillText, pathSegment, template, triggerValues } from "./http/template.ts";
import { lookUpKey } from "./look-up-key.ts";
import { neededSecret } from "./needed-secret.ts";
import { observed, withDetails } from "./observed.ts";

const name = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, {
  message: "an owner, repository or workflow has letters, digits, points, dashes and underscores",
});

const githubConfig = z.strictObject({
  kind: z.literal("github-actions"),
  /** Of GitHub Enterprise Server: `https://HOST/api/v3`. */
  base_url: serviceUrl.default("https://api.github.com"),
  owner: name,
  repository: name,
  /** File name or number of a workflow that is started by `workflow_dispatch`. */
  workflow: name,
  /** A token that may read and write Actions of the repository. */
  token_secret: secretName,
  /** Branch or tag whose workflow file is run. What is built must come by `inputs`. */
  ref: template.default("main"),
  /** Inputs of the workflow, each declared there: GitHub refuses others. */
  inputs: z.record(z.string(), template),
  /** The workflow's `run-name` shows an input that holds `{key}`: then a lost answer is found again. */
  run_name_has_key: z.boolean().default(false),
  limits: httpLimits,
});
type GithubConfig = z.infer<typeof githubConfig>;

/** `status` of a workflow run that has not completed (docs.github.com/rest/actions/workflow-runs). */
const states: Readonly<Record<string, BuildObservation>> = {
  queued: { status: "accepted" },
  requested: { status: "accepted" },
  waiting: { status: "accepted" },
  pending: { status: "accepted" },
  in_progress: { status: "running" },
};

/** `conclusion` of a completed one. Nothing of the commit was judged by those with `noVerdict`. */
const conclusions: Readonly<Record<string, BuildObservation>> = {
  success: { status: "succeeded" },
  failure: { status: "failed" },
  timed_out: { status: "failed" },
  cancelled: { status: "cancelled" },
  neutral: { status: "failed", noVerdict: "neutral" },
  skipped: { status: "failed", noVerdict: "skipped" },
  stale: { status: "failed", noVerdict: "stale" },
  action_required: { status: "failed", noVerdict: "action_required" },
  startup_failure: { status: "failed", noVerdict: "startup_failure" },
};

const run = z.object({
  id: z.number().int().positive(),
  status: z.string().nullish(),
  conclusion: z.string().nullish(),
  html_url: z.string().nullish(),
});
const runs = z.object({
  workflow_runs: z.array(run.extend({ name: z.string().nullish(), display_title: z.string().nullish() })),
});
const dispatched = z.object({ workflow_run_id: z.number().int().positive(), html_url: z.string().nullish() });

/** The list of runs may lag behind the dispatch; GitHub states no bound. */
const visibleAfterMs = 30_000;

/**
 * Runs of a GitHub Actions workflow, started by `workflow_dispatch` with `return_run_details`. GitHub has no key for
 * runs; a lost answer is found again only by the run's name, see `run_name_has_key`.
 */
export const githubActionsRunnerKind: RunnerKind<GithubConfig> = {
  kind: "github-actions",
  config: githubConfig,
  create: (config, world) => {
    const token = neededSecret(world, config.token_secret);
    const service = new HttpService({
      name: "GitHub",
      baseUrl: config.base_url,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
      },
      secrets: [token],
      limits: config.limits,
      clock: world.clock,
      classify,
      waitMs,
    });
    return githubRunner(config, service);
  },
};

function githubRunner(config: GithubConfig, service: HttpService): BuildRunner {
  const workflow = `repos/${config.owner}/${config.repository}/actions/workflows/${config.workflow}`;
  const identified = (id: number, url: string | null | undefined): TriggeredBuild => ({
    buildId: `github/${config.owner}/${config.repository}/${id}`,
    ...(url ? { url } : {}),
  });
  const find = async (request: TriggerRequest, signal: AbortSignal): Promise<TriggeredBuild | undefined> => {
    const path = `${workflow}/runs?event=workflow_dispatch&per_page=100`;
    const answer = await service.ask({ call: "status", method: "GET", path, signal });
    const found = answer
      .read(runs)
      .workflow_runs.find((one) => holdsKey(one.display_title ?? one.name ?? "", lookUpKey(request)));
    return found === undefined ? undefined : identified(found.id, found.html_url);
  };
  const start = async (request: TriggerRequest, signal: AbortSignal): Promise<TriggeredBuild> => {
    const path = `${workflow}/dispatches`;
    const json = dispatchOf(config, request);
    const answer = await service.ask({ call: "trigger", method: "POST", path, json, signal });
    const details = answer.read(dispatched);
    return identified(details.workflow_run_id, details.html_url);
  };
  const reads = new ConditionalReads(service, run);
  return {
    trigger: (request, signal) =>
      findOrStart({
        find: config.run_name_has_key ? () => find(request, signal) : undefined,
        start: () => start(request, signal),
        visibleAfterMs,
      }),
    status: async (buildId, signal) => {
      const { value, waitMs: retryAfterMs } = await reads.read(pathOf(buildId), signal);
      return withDetails(observationOf(value), { url: value.html_url, retryAfterMs });
    },
    cancel: async (buildId, signal) => {
      // 409: it has ended.
      const path = `${pathOf(buildId)}/cancel`;
      await service.ask({ call: "cancel", method: "POST", path, accept: [409], signal });
    },
  };
}

function dispatchOf(config: GithubConfig, request: TriggerRequest): unknown {
  const values = triggerValues(request);
  const inputs = Object.entries(config.inputs).map(([input, text]) => [input, fillText(text, values)]);
  return {
    ref: fillText(config.ref, values),
    inputs: Object.fromEntries(inputs),
    return_run_details: true,
  };
}

/** Whether `title` holds the key, set off by blanks, brackets or quotes: `request/q/1` is no part of `request/q/1#2`. */
function holdsKey(title: string, key: string): boolean {
  for (let from = title.indexOf(key); from !== -1; from = title.indexOf(key, from + 1)) {
    const around = (title[from - 1] ?? " ") + (title[from + key.length] ?? " ");
    if (/^[\s()[\]{}<>"'`,;|]{2}$/.test(around)) return true;
  }
  return false;
}

function pathOf(buildId: string): string {
  const [kind, owner, repository, id, ...more] = buildId.split("/");
  if (kind !== "github" || !owner || !repository || !/^\d+$/.test(id ?? "") || more.length > 0) {
    throw new RunnerError({ kind: "not_found", message: `GitHub: ${buildId} is not the id of a run there` });
  }
  return `repos/${pathSegment(owner)}/${pathSegment(repository)}/actions/runs/${id}`;
}

function observationOf(one: z.infer<typeof run>): BuildObservation {
  if (one.status !== "completed") return observed(states, one.status ?? "");
  const conclusion = one.conclusion ?? "";
  if (conclusion === "") return { status: "unknown", providerState: "completed" };
  const known = observed(conclusions, conclusion);
  // A conclusion that we do not know ends the run all the same, but is no verdict that we could vouch for.
  return known.status === "unknown" ? { ...known, status: "failed", noVerdict: conclusion } : known;
}

/** GitHub answers an exceeded rate limit with 403 as well as 429 (docs.github.com/rest, "Rate limits"). */
function classify(answer: HttpHead, call: RunnerCall): RunnerFailure {
  const isLimit = answer.headers.has("retry-after") || answer.headers.get("x-ratelimit-remaining") === "0";
  return answer.status === 403 && isLimit ? "transient" : classifyHttpStatus(answer.status, call);
}

function waitMs(headers: Headers, nowMs: number): number | undefined {
  const asked = retryAfterMs(headers, nowMs);
  const limit = numberIn(headers, "x-ratelimit-limit");
  const remaining = numberIn(headers, "x-ratelimit-remaining");
  const resetMs = untilEpochSecondsMs(headers, { name: "x-ratelimit-reset", nowMs });
  if (asked !== undefined || remaining === undefined || resetMs === undefined) return asked;
  return sparingMs({ limit: limit ?? 0, remaining, resetMs });
}
