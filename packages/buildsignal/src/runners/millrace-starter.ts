import type { RunnerWorld, TriggerRequest } from "../runner.ts";
import { HttpService } from "./http/http-service.ts";
import { askTemplate, filledHeaders } from "./http/request-template.ts";
import { triggerValues } from "./http/template.ts";
import { CommandStarter } from "./millrace-command.ts";
import type { MillraceConfig } from "./millrace-config.ts";

/** Who starts Bazel for the runner that is Millrace itself. */
export interface Starter {
  /** Starts one with the invocation id, or does nothing when one is being started already. */
  start(request: TriggerRequest, how: { invocationId: string; signal: AbortSignal }): Promise<void>;
  /** Interrupts it. */
  cancel(invocationId: string, signal: AbortSignal): Promise<void>;
  /** Why no Bazel will come any more; undefined when one may come yet, or nobody here knows. */
  ended(invocationId: string): string | undefined;
}

/** The starter that the configuration describes. */
export function openStarter(config: MillraceConfig, world: RunnerWorld): Starter {
  const { start } = config;
  switch (start.kind) {
    case "expected":
      return { start: async () => {}, cancel: async () => {}, ended: () => undefined };
    case "command":
      return new CommandStarter(start, world);
    case "http":
      return httpStarter(start, { config, world });
  }
}

function httpStarter(
  start: Extract<MillraceConfig["start"], { kind: "http" }>,
  with_: { config: MillraceConfig; world: RunnerWorld },
): Starter {
  const service = new HttpService({
    name: "The starter of Bazel",
    baseUrl: start.base_url,
    ...filledHeaders(start.headers, with_.world),
    limits: with_.config.limits,
    clock: with_.world.clock,
  });
  return {
    start: async (request, { invocationId, signal }) => {
      const values = { ...triggerValues(request), invocation_id: invocationId };
      await askTemplate(service, start.request, { call: "trigger", values, signal });
    },
    cancel: async (invocationId, signal) => {
      if (start.cancel === undefined) return;
      const values = { invocation_id: invocationId };
      // 404, 409, 410: that Bazel has ended.
      const accept = [404, 409, 410];
      await askTemplate(service, start.cancel, { call: "cancel", values, accept, signal });
    },
    ended: () => undefined,
  };
}
