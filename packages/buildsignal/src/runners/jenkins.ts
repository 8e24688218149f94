import { z } from "zod";
import type { BuildObservation, BuildRunner, RunnerKind, TriggeredBuild, TriggerRequest } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import { findOrStart } from "./http/find-or-start.ts";
import { HttpService } from "./http/http-service.ts";
import { httpLimits, secretName, serviceUrl } from "./http/limits.ts";
import { fillText, template, triggerValues } from "./http/template.ts";
import { JenkinsPlaces, treePath } from "./jenkins-places.ts";
import { lookUpKey } from "./look-up-key.ts";
import { neededSecret } from "./needed-secret.ts";
import { observed, withDetails } from "./observed.ts";

const jenkinsConfig = z.strictObject({
  kind: z.literal("jenkins"),
  /** Jenkins' own root, such as `https://ci.example/jenkins`. */
  base_url: serviceUrl,
  /** The job with its folders: `team/trunk`. */
  job: z
    .string()
    .regex(/^[^/]+(\/[^/]+)*$/, { message: "a job is NAME or FOLDER/NAME" })
    .max(200),
  user: z.string().min(1),
  /** An API token of that user; with one Jenkins asks for no crumb. */
  token_secret: secretName,
  /** Parameters of the job, each declared there: Jenkins drops others. */
  parameters: z.record(z.string(), template),
  /** A declared string parameter that gets the request's key: then a lost answer is found again. */
  key_parameter: z.string().min(1).optional(),
  limits: httpLimits,
});
type JenkinsConfig = z.infer<typeof jenkinsConfig>;

/** `result` of a build that is not building (hudson.model.Result). */
const results: Readonly<Record<string, BuildObservation>> = {
  SUCCESS: { status: "succeeded" },
  UNSTABLE: { status: "failed" },
  FAILURE: { status: "failed" },
  ABORTED: { status: "cancelled" },
  NOT_BUILT: { status: "failed", noVerdict: "NOT_BUILT" },
};

const build = z.object({
  number: z.number().int().positive(),
  url: z.string().nullish(),
  building: z.boolean().nullish(),
  inProgress: z.boolean().nullish(),
  result: z.string().nullish(),
});

/**
 * Builds of a Jenkins job. Jenkins answers a trigger with a place in its queue, which becomes a build later, and forgets
 * places five minutes after that; `JenkinsPlaces` follows them. With `key_parameter` a lost answer is found again in the
 * queue or among the job's latest builds; besides, Jenkins itself merges equal requests that wait.
 */
export const jenkinsRunnerKind: RunnerKind<JenkinsConfig> = {
  kind: "jenkins",
  config: jenkinsConfig,
  create: (config, world) => {
    const token = neededSecret(world, config.token_secret);
    const basic = Buffer.from(`${config.user}:${token}`).toString("base64");
    const service = new HttpService({
      name: "Jenkins",
      baseUrl: config.base_url,
      headers: { authorization: `Basic ${basic}` },
      secrets: [token, basic],
      limits: config.limits,
      clock: world.clock,
    });
    return jenkinsRunner(config, service);
  },
};

function jenkinsRunner(config: JenkinsConfig, service: HttpService): BuildRunner {
  const places = new JenkinsPlaces(service, new URL(config.base_url).host);
  const { key_parameter: keyParameter } = config;
  const start = async (request: TriggerRequest, signal: AbortSignal): Promise<TriggeredBuild> => {
    const form = parametersOf(config, request);
    const call = Object.keys(form).length === 0 ? "build" : "buildWithParameters";
    const path = `${places.jobPath(config.job)}/${call}`;
    const answer = await service.ask({ call: "trigger", method: "POST", path, form, signal });
    const item = /\/queue\/item\/(\d+)\/?$/.exec(answer.headers.get("location") ?? "")?.[1];
    if (item !== undefined) return { buildId: places.idOfItem(config.job, Number(item)) };
    throw new RunnerError({
      kind: "uncertain",
      message: `Jenkins: POST ${path} was answered with ${answer.status} and no place in the queue`,
    });
  };
  return {
    trigger: (request, signal) =>
      findOrStart({
        find:
          keyParameter === undefined
            ? undefined
            : () =>
                places.find({ job: config.job, parameter: keyParameter, key: lookUpKey(request) }, signal),
        start: () => start(request, signal),
      }),
    status: async (buildId, signal) => {
      const place = await places.locate(buildId, signal);
      if (place.kind === "waiting") {
        const state = place.cancelled ? "cancelled" : place.state;
        return withDetails(
          { status: place.cancelled ? "cancelled" : "accepted", providerState: state },
          { retryAfterMs: place.waitMs },
        );
      }
      const path = treePath(place.path, "number,url,building,inProgress,result");
      const answer = await service.ask({ call: "status", method: "GET", path, signal });
      const one = answer.read(build);
      return withDetails(observationOf(one), { url: one.url, retryAfterMs: answer.waitMs });
    },
    cancel: (buildId, signal) => cancel({ service, places }, { buildId, signal }),
  };
}

async function cancel(
  on: { service: HttpService; places: JenkinsPlaces },
  what: { buildId: string; signal: AbortSignal },
): Promise<void> {
  // Answered with a redirect to a page; with 400 or 404 for a place that was left or a build that has ended.
  const post = (path: string) =>
    on.service.ask({
      call: "cancel",
      method: "POST",
      path,
      accept: [302, 303, 400, 404],
      signal: what.signal,
    });
  let place = await on.places.locate(what.buildId, what.signal);
  if (place.kind === "waiting" && !place.cancelled) {
    await post(`queue/cancelItem?id=${place.item}`);
    // It may have become a build meanwhile, of which the answer says nothing.
    place = await on.places.locate(what.buildId, what.signal);
  }
  if (place.kind === "build") await post(`${place.path}/stop`);
}

function parametersOf(config: JenkinsConfig, request: TriggerRequest): Record<string, string> {
  const values = triggerValues(request);
  const own = Object.entries(config.parameters).map(([name, text]) => [name, fillText(text, values)]);
  const key = config.key_parameter === undefined ? {} : { [config.key_parameter]: lookUpKey(request) };
  return { ...Object.fromEntries(own), ...key };
}

function observationOf(one: z.infer<typeof build>): BuildObservation {
  // A pipeline sets its result before its last steps have run.
  if (one.building === true || one.inProgress === true)
    return { status: "running", providerState: "building" };
  return observed(results, one.result ?? "");
}
