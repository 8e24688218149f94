import { createRoute, z } from "@hono/zod-openapi";
import { invocationStatuses } from "@millrace/db/schema/invocations";
import { cursorParameter, decodeCursor, encodeCursor, storableText } from "../cursor.ts";
import { listBuilds } from "../queries/builds.ts";
import { countsOf } from "../queries/counts.ts";
import { projectExists } from "../queries/projects.ts";
import { type Build, buildSchema, presentBuilds } from "../resources/build.ts";
import { listOf, pageSize, projectName } from "../resources/names.ts";
import { maySee } from "../viewer.ts";
import { badCursor, notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

const route = createRoute({
  method: "get",
  path: "/projects/{project}/builds",
  operationId: "listBuilds",
  summary: "Builds of a project, newest first",
  description:
    "One entry per invocation: its latest attempt. What is left out of a filter restricts nothing.",
  request: {
    params: z.object({ project: projectName }),
    query: z.object({
      cursor: cursorParameter,
      limit: pageSize(50, 200),
      status: listOf(z.enum(invocationStatuses), "Any of these statuses"),
      command: listOf(storableText, "Any of these commands, such as `test`"),
      user: listOf(storableText, "Any of these users"),
    }),
  },
  responses: {
    200: {
      description: "A page of builds",
      content: {
        "application/json": {
          schema: z.object({ builds: z.array(buildSchema), nextCursor: z.string().nullable() }),
        },
      },
    },
    ...problemResponses(400, 404, 503),
  },
});

const cursorShape = z.tuple([z.number().int().positive()]);

export function addBuildRoutes(api: Api, parts: ApiParts): void {
  api.openapi(route, async (context) => {
    const { project } = context.req.valid("param");
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, cursorShape);
    if (query.cursor !== undefined && after === undefined) return badCursor();
    if (!maySee(viewer, project)) return notFound(`The project ${project}`);
    const rows = await listBuilds(parts.orm, viewer, {
      project,
      filter: { statuses: query.status, commands: query.command, users: query.user },
      before: after?.[0],
      limit: query.limit + 1,
    });
    if (rows.length === 0 && !(await projectExists(parts.orm, viewer, project))) {
      return notFound(`The project ${project}`);
    }
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    const builds: Build[] = presentBuilds(page, await countsOf(parts.orm, viewer, page));
    return context.json(
      { builds, nextCursor: last === undefined ? null : encodeCursor([last.invocation.attemptId]) },
      200,
    );
  });
}
