import { createRoute, z } from "@hono/zod-openapi";
import { listProjects } from "../queries/projects.ts";
import { problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

const facts = createRoute({
  method: "get",
  path: "/server",
  operationId: "getServer",
  summary: "How to send builds here",
  responses: {
    200: {
      description: "Facts about this server",
      content: {
        "application/json": {
          schema: z.object({
            version: z.string(),
            grpcUrl: z.string().openapi({ description: "What follows `--bes_backend=`" }),
            resultsUrl: z.string().openapi({ description: "What follows `--bes_results_url=`" }),
            bazelrc: z.array(z.string()).openapi({ description: "Lines to paste into .bazelrc" }),
          }),
        },
      },
    },
  },
});

const projects = createRoute({
  method: "get",
  path: "/projects",
  operationId: "listProjects",
  summary: "Projects you may see",
  responses: {
    200: {
      description: "All of them, by name",
      content: {
        "application/json": {
          schema: z.object({ projects: z.array(z.object({ id: z.string(), name: z.string() })) }),
        },
      },
    },
    ...problemResponses(503),
  },
});

export function addServerRoutes(api: Api, parts: ApiParts): void {
  api.openapi(facts, (context) => {
    const origin = parts.server.httpUrl === "" ? new URL(context.req.url).origin : parts.server.httpUrl;
    const resultsUrl = `${origin.replace(/\/$/, "")}/i`;
    const { version, grpcUrl } = parts.server;
    const bazelrc = [`build --bes_backend=${grpcUrl}`, `build --bes_results_url=${resultsUrl}`];
    return context.json({ version, grpcUrl, resultsUrl, bazelrc }, 200);
  });

  api.openapi(projects, async (context) =>
    context.json({ projects: await listProjects(parts.orm, context.get("viewer")) }, 200),
  );
}
