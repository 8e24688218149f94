import { createRoute, z } from "@hono/zod-openapi";
import { cursorParameter, decodeCursor, encodeCursor } from "../cursor.ts";
import { listActionCounts, listActions } from "../queries/said.ts";
import { actionCountSchema, actionSchema, presentAction, presentActionCount } from "../resources/action.ts";
import { attemptNumber, invocationParams, pageSize } from "../resources/names.ts";
import { badCursor, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const list = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/actions",
  operationId: "listActions",
  summary: "Failed actions of an attempt, in the order of their events, and how many of each kind there were",
  request: {
    params: invocationParams,
    query: z.object({ attempt: attemptNumber, cursor: cursorParameter, limit: pageSize(100, 1_000) }),
  },
  responses: {
    200: {
      description: "A page of actions; the counts are those of the whole attempt",
      content: {
        "application/json": {
          schema: z.object({
            actions: z.array(actionSchema),
            counts: z.array(actionCountSchema),
            nextCursor: z.string().nullable(),
          }),
        },
      },
    },
    ...problemResponses(400, 404, 503),
  },
});

const place = z.tuple([z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)]);

export function addActionRoutes(api: Api, parts: ApiParts): void {
  api.openapi(list, async (context) => {
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const after = query.cursor === undefined ? [0] : decodeCursor(query.cursor, place);
    if (after === undefined) return badCursor();
    const found = await attemptOr404(parts, viewer, {
      ...context.req.valid("param"),
      attempt: query.attempt,
    });
    if (found instanceof Response) return found;
    const { attemptId } = found.invocation;
    const [rows, counts] = await Promise.all([
      listActions(parts.orm, viewer, { attemptId, after: after[0] ?? 0, limit: query.limit + 1 }),
      listActionCounts(parts.orm, viewer, attemptId),
    ]);
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    const nextCursor = last === undefined ? null : encodeCursor([last.sequence]);
    return context.json(
      { actions: page.map(presentAction), counts: counts.map(presentActionCount), nextCursor },
      200,
    );
  });
}
