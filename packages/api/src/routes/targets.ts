import { createRoute, z } from "@hono/zod-openapi";
import { targetStatuses } from "@millrace/db/schema/targets";
import { cursorParameter, decodeCursor, encodeCursor, storableText } from "../cursor.ts";
import { listTargets } from "../queries/targets.ts";
import { attemptNumber, invocationParams, listOf, listOfWhole, pageSize } from "../resources/names.ts";
import { presentTarget, targetSchema } from "../resources/target.ts";
import { attemptTag, isKnown, notModified, revalidated } from "../web/etag.ts";
import { badCursor, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const route = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/targets",
  operationId: "listTargets",
  summary: "Targets of an attempt, by label",
  request: {
    params: invocationParams,
    query: z.object({
      attempt: attemptNumber,
      cursor: cursorParameter,
      limit: pageSize(200, 1_000),
      status: listOf(z.enum(targetStatuses), "Any of these statuses"),
      label: listOfWhole(storableText, "Exactly these labels"),
      contains: storableText.optional().openapi({ description: "A part of the label, whatever its case" }),
    }),
  },
  responses: {
    200: {
      description: "A page of targets",
      content: {
        "application/json": {
          schema: z.object({ targets: z.array(targetSchema), nextCursor: z.string().nullable() }),
        },
      },
    },
    304: { description: "Not changed" },
    ...problemResponses(400, 404, 503),
  },
});

const cursorShape = z.tuple([storableText, storableText, storableText]);

export function addTargetRoutes(api: Api, parts: ApiParts): void {
  api.openapi(route, async (context) => {
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, cursorShape);
    if (query.cursor !== undefined && after === undefined) return badCursor();
    const found = await attemptOr404(parts, viewer, {
      ...context.req.valid("param"),
      attempt: query.attempt,
    });
    if (found instanceof Response) return found;
    const tag = attemptTag(found, { version: parts.server.version });
    if (isKnown(context.req.header("if-none-match"), tag)) return notModified(tag);
    const rows = await listTargets(parts.orm, viewer, {
      attemptId: found.invocation.attemptId,
      filter: { labels: query.label, contains: query.contains },
      statuses: query.status?.map((status) => targetStatuses.indexOf(status)),
      after,
      limit: query.limit + 1,
    });
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    const nextCursor =
      last === undefined ? null : encodeCursor([last.label, last.aspect, last.configuration]);
    context.header("etag", tag);
    context.header("cache-control", revalidated);
    return context.json({ targets: page.map(presentTarget), nextCursor }, 200);
  });
}
