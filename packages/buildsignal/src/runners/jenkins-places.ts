import { z } from "zod";
import type { TriggeredBuild } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import type { HttpService } from "./http/http-service.ts";
import { pathSegment } from "./http/template.ts";

/** Where a build of Jenkins is now. */
export type JenkinsPlace =
  | {
      readonly kind: "waiting";
      readonly item: number;
      readonly cancelled: boolean;
      /** `queued`, `blocked` or `stuck`. */
      readonly state: string;
      readonly waitMs: number | undefined;
    }
  | { readonly kind: "build"; readonly path: string };

const queueItem = z.object({
  id: z.number().int(),
  cancelled: z.boolean().nullish(),
  blocked: z.boolean().nullish(),
  stuck: z.boolean().nullish(),
  executable: z.object({ number: z.number().int().positive() }).nullish(),
});
const parameters = z
  .array(
    z.object({
      parameters: z.array(z.object({ name: z.string().nullish(), value: z.unknown() })).nullish(),
    }),
  )
  .nullish();
const queue = z.object({
  items: z.array(
    z.object({ id: z.number().int(), task: z.object({ url: z.string() }).nullish(), actions: parameters }),
  ),
});
const builds = z.object({
  allBuilds: z.array(
    z.object({
      number: z.number().int().positive(),
      queueId: z.number().int().nullish(),
      actions: parameters,
    }),
  ),
});

/** Of a job, to look for a place that Jenkins has forgotten. */
const buildsLookedAt = 300;
const rememberedMax = 10_000;

interface BuildName {
  readonly job: string;
  readonly kind: "queue" | "build";
  readonly number: number;
}

/** Follows builds of Jenkins from their place in the queue to their number. */
export class JenkinsPlaces {
  private readonly service: HttpService;
  private readonly host: string;
  /**
   * Numbers of builds by their id, while this process lives. Jenkins forgets a place five minutes after it was left
   * (`Queue.leftItems`); without this each later poll would list the job's builds.
   */
  private readonly numbers = new Map<string, number>();

  constructor(service: HttpService, host: string) {
    this.service = service;
    this.host = host;
  }

  /** The id of a build by its place in the queue. */
  idOfItem(job: string, item: number): string {
    return `jenkins/${this.host}/${job}/queue/${item}`;
  }

  /** `team/trunk` → `job/team/job/trunk`. */
  jobPath(job: string): string {
    return job
      .split("/")
      .map((part) => `job/${pathSegment(part)}`)
      .join("/");
  }

  /** A build of the job whose parameter has the key: first in the queue, then among its latest 300 builds. */
  async find(
    by: { job: string; parameter: string; key: string },
    signal: AbortSignal,
  ): Promise<TriggeredBuild | undefined> {
    const holds = (one: { actions?: z.infer<typeof parameters> }): boolean =>
      one.actions?.some((action) =>
        action.parameters?.some((given) => given.name === by.parameter && given.value === by.key),
      ) === true;
    const ofJob = `/${this.jobPath(by.job)}/`;
    const path = treePath("queue", "items[id,task[url],actions[parameters[name,value]]]");
    const waiting = (await this.service.ask({ call: "status", method: "GET", path, signal })).read(queue);
    const item = waiting.items.find((one) => one.task?.url.endsWith(ofJob) === true && holds(one));
    if (item !== undefined) return { buildId: this.idOfItem(by.job, item.id) };
    const started = (await this.listBuilds(by.job, signal)).find(holds);
    if (started === undefined) return undefined;
    return { buildId: `jenkins/${this.host}/${by.job}/build/${started.number}` };
  }

  /** Where the build is. Fails with `not_found` when Jenkins knows neither its place nor a build that came of it. */
  async locate(buildId: string, signal: AbortSignal): Promise<JenkinsPlace> {
    const name = nameOf(buildId);
    const built = (number: number): JenkinsPlace => ({
      kind: "build",
      path: `${this.jobPath(name.job)}/${number}`,
    });
    if (name.kind === "build") return built(name.number);
    const known = this.numbers.get(buildId);
    if (known !== undefined) return built(known);
    const path = treePath(`queue/item/${name.number}`, "id,cancelled,blocked,stuck,executable[number]");
    const answer = await this.service.ask({ call: "status", method: "GET", path, accept: [404], signal });
    const item = answer.status === 404 ? undefined : answer.read(queueItem);
    const number = item === undefined ? await this.numberOf(name, signal) : item.executable?.number;
    if (number !== undefined) {
      this.remember(buildId, number);
      return built(number);
    }
    return {
      kind: "waiting",
      item: name.number,
      cancelled: item?.cancelled === true,
      state: item?.stuck === true ? "stuck" : item?.blocked === true ? "blocked" : "queued",
      waitMs: answer.waitMs,
    };
  }

  private async numberOf(name: BuildName, signal: AbortSignal): Promise<number> {
    const one = (await this.listBuilds(name.job, signal)).find((build) => build.queueId === name.number);
    if (one !== undefined) return one.number;
    throw new RunnerError({
      kind: "not_found",
      message: `Jenkins: no build of ${name.job} among its latest ${buildsLookedAt} came of place ${name.number} in the queue`,
    });
  }

  private async listBuilds(job: string, signal: AbortSignal): Promise<z.infer<typeof builds>["allBuilds"]> {
    const tree = `allBuilds[number,queueId,actions[parameters[name,value]]]{0,${buildsLookedAt}}`;
    const path = treePath(this.jobPath(job), tree);
    const answer = await this.service.ask({ call: "status", method: "GET", path, signal });
    return answer.read(builds).allBuilds;
  }

  private remember(buildId: string, number: number): void {
    this.numbers.set(buildId, number);
    const [oldest] = this.numbers.keys();
    if (this.numbers.size > rememberedMax && oldest !== undefined) this.numbers.delete(oldest);
  }
}

/** The JSON of a page of Jenkins, of which only `tree` is wanted. */
export function treePath(page: string, tree: string): string {
  return `${page}/api/json?tree=${encodeURIComponent(tree)}`;
}

function nameOf(buildId: string): BuildName {
  const match = /^jenkins\/[^/]+\/(.+)\/(queue|build)\/(\d{1,15})$/.exec(buildId);
  const [, job, kind, number] = match ?? [];
  if (job === undefined) {
    throw new RunnerError({
      kind: "not_found",
      message: `Jenkins: ${buildId} is not the id of a build there`,
    });
  }
  return { job, kind: kind === "build" ? "build" : "queue", number: Number(number) };
}
