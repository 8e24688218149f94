import { addActionRoutes } from "./actions.ts";
import { type Api, type ApiParts, createApi } from "./api.ts";
import { addBuildFacetRoutes } from "./build-facets.ts";
import { addBuildRoutes } from "./builds.ts";
import { addDetailRoutes } from "./details.ts";
import { addEventRoutes } from "./events.ts";
import { addGreennessRoutes } from "./greenness.ts";
import { addInvocationRoutes } from "./invocations.ts";
import { addLiveRoutes } from "./live.ts";
import { addLogRoutes } from "./log.ts";
import { addMetricsRoutes } from "./metrics.ts";
import { addOutputRoutes } from "./outputs.ts";
import { addServerRoutes } from "./server.ts";
import { addSignalCommandRoutes } from "./signal-commands.ts";
import { addSignalRoutes } from "./signals.ts";
import { addTargetRoutes } from "./targets.ts";
import { addTestResultRoutes, addTestRoutes } from "./tests.ts";

/** Everything below `/api/v1`. */
export function apiRoutes(parts: ApiParts): Api {
  const api = createApi();
  addServerRoutes(api, parts);
  addBuildRoutes(api, parts);
  addBuildFacetRoutes(api, parts);
  addInvocationRoutes(api, parts);
  addTargetRoutes(api, parts);
  addTestRoutes(api, parts);
  addTestResultRoutes(api, parts);
  addActionRoutes(api, parts);
  addOutputRoutes(api, parts);
  addMetricsRoutes(api, parts);
  addDetailRoutes(api, parts);
  addLogRoutes(api, parts);
  addEventRoutes(api, parts);
  addLiveRoutes(api, parts);
  addGreennessRoutes(api, parts);
  addSignalRoutes(api, parts);
  addSignalCommandRoutes(api, parts);
  return api;
}
