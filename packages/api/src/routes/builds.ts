import { createRoute, z } from "@hono/zod-openapi";
import { invocationStatuses } from "@millrace/db/schema/invocations";
import { cursorParameter, decodeCursor, encodeCursor, storableText } from "../cursor.ts";
import type { AttemptRow } from "../queries/attempts.ts";
import { type BuildOrder, type BuildPlace, buildOrders } from "../queries/build-order.ts";
import { listBuilds } from "../queries/builds.ts";
import { countsOf } from "../queries/counts.ts";
import { projectExists } from "../queries/projects.ts";
import { queryParameter, queryProblem, readQuery } from "../query/query-parameter.ts";
import { type Build, buildSchema, presentBuilds } from "../resources/build.ts";
import { listOf, pageSize, projectName } from "../resources/names.ts";
import { maySee } from "../viewer.ts";
import { badCursor, notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

const route = createRoute({
  method: "get",
  path: "/projects/{project}/builds",
  operationId: "listBuilds",
  summary: "Builds of a project",
  description:
    "One entry per invocation: its latest attempt. What is left out of a filter restricts nothing. " +
    "A cursor belongs to the order it was given out for.",
  request: {
    params: z.object({ project: projectName }),
    query: z.object({
      cursor: cursorParameter,
      limit: pageSize(50, 200),
      query: queryParameter,
      sort: z
        .enum(buildOrders)
        .default("newest")
        .openapi({ description: "`longest` and `shortest` leave out builds whose duration is not known" }),
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
    ...queryProblem,
    ...problemResponses(404, 503),
  },
});

const attemptShape = z.number().int().positive();
const cursorShapes: Readonly<Record<BuildOrder, z.ZodType<BuildPlace>>> = {
  newest: z.tuple([z.null(), attemptShape]),
  oldest: z.tuple([z.null(), attemptShape]),
  longest: z.tuple([z.number().int(), attemptShape]),
  shortest: z.tuple([z.number().int(), attemptShape]),
};

export function addBuildRoutes(api: Api, parts: ApiParts): void {
  api.openapi(route, async (context) => {
    const { project } = context.req.valid("param");
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const after =
      query.cursor === undefined ? undefined : decodeCursor(query.cursor, cursorShapes[query.sort]);
    if (query.cursor !== undefined && after === undefined) return badCursor();
    const asked = readQuery(query.query);
    if (asked instanceof Response) return asked;
    if (!maySee(viewer, project)) return notFound(`The project ${project}`);
    const rows = await listBuilds(parts.orm, viewer, {
      project,
      filter: {
        statuses: query.status,
        commands: query.command,
        users: query.user,
        query: asked,
        nowMs: parts.clock.now(),
      },
      order: query.sort,
      after,
      limit: query.limit + 1,
    });
    if (rows.length === 0 && !(await projectExists(parts.orm, viewer, project))) {
      return notFound(`The project ${project}`);
    }
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    const builds: Build[] = presentBuilds(page, await countsOf(parts.orm, viewer, page));
    const nextCursor = last === undefined ? null : encodeCursor(placeOf(last, query.sort));
    return context.json({ builds, nextCursor }, 200);
  });
}

function placeOf({ invocation }: AttemptRow, order: BuildOrder): BuildPlace {
  const isByTime = order === "newest" || order === "oldest";
  return [isByTime ? null : invocation.durationMs, invocation.attemptId];
}
