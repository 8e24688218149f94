import { createRoute, z } from "@hono/zod-openapi";
import { matcherOf } from "@millrace/base/query/match-query";
import { eventStreamHeaders } from "../live/event-stream.ts";
import {
  liveBuildSchema,
  liveGoneSchema,
  liveHeartbeatSchema,
  liveStateSchema,
} from "../live/live-events.ts";
import { projectExists } from "../queries/projects.ts";
import { queryParameter, queryProblem, readQuery } from "../query/query-parameter.ts";
import { invocationParams, projectName } from "../resources/names.ts";
import { notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const invocation = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/live",
  operationId: "watchInvocation",
  summary: "How an invocation moves, as server-sent events",
  description:
    "`state` at the beginning and after each change (at most four a second), `heartbeat` every 5 s with the stored position. " +
    "The log is not in here, only its length: read it by byte range.",
  request: { params: invocationParams },
  responses: {
    200: {
      description: "Events `state` and `heartbeat`; the schema is that of their data",
      content: { "text/event-stream": { schema: z.union([liveStateSchema, liveHeartbeatSchema]) } },
    },
    ...problemResponses(400, 404, 503),
  },
});

const project = createRoute({
  method: "get",
  path: "/projects/{project}/live",
  operationId: "watchProject",
  summary: "How the builds of a project move, as server-sent events",
  description:
    "`build` after each change of a build, `reset` when the list is to be read anew (at the beginning too), `heartbeat` every 5 s. " +
    "With a query: `build` only of builds that fulfil it, `gone` once when one does not, or not any more.",
  request: {
    params: z.object({ project: projectName }),
    query: z.object({ query: queryParameter }),
  },
  responses: {
    200: {
      description: "Events `build`, `gone`, `reset` and `heartbeat`; the schema is that of their data",
      content: {
        "text/event-stream": { schema: z.union([liveBuildSchema, liveGoneSchema, liveHeartbeatSchema]) },
      },
    },
    ...queryProblem,
    ...problemResponses(404, 503),
  },
});

export function addLiveRoutes(api: Api, parts: ApiParts): void {
  api.openapi(invocation, async (context) => {
    const name = context.req.valid("param");
    const found = await attemptOr404(parts, context.get("viewer"), name);
    if (found instanceof Response) return found;
    const body = parts.live.watchInvocation(name, context.req.header("last-event-id"));
    return new Response(body, { headers: eventStreamHeaders });
  });

  api.openapi(project, async (context) => {
    const name = context.req.valid("param").project;
    const query = readQuery(context.req.valid("query").query);
    if (query instanceof Response) return query;
    if (!(await projectExists(parts.orm, context.get("viewer"), name))) {
      return notFound(`The project ${name}`);
    }
    return new Response(parts.live.watchProject(name, query && matcherOf(query)), {
      headers: eventStreamHeaders,
    });
  });
}
