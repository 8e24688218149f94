import { createRoute, z } from "@hono/zod-openapi";
import { signalLetterStates } from "@millrace/db/schema/signal-dead-letters";
import { signalRequestStates } from "@millrace/db/schema/signal-requests";
import { cursorParameter, decodeCursor, encodeCursor, storableText } from "../cursor.ts";
import { listLetters, openLetters } from "../queries/signal-letters.ts";
import { listQueues, listRequests, requestHistory } from "../queries/signals.ts";
import { listOf, pageSize, projectName } from "../resources/names.ts";
import { presentHistory, presentLetter, presentQueue, presentRequest } from "../resources/present-signals.ts";
import {
  signalHistorySchema,
  signalLetterSchema,
  signalQueueSchema,
  signalRequestSchema,
} from "../resources/signals.ts";
import { badCursor, notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

export const queueName = storableText.openapi({ param: { name: "queue", in: "path" }, example: "main" });
const maxNumber = Number.MAX_SAFE_INTEGER;
export const requestNumber = z.coerce
  .number()
  .int()
  .min(1)
  .max(maxNumber)
  .openapi({ param: { name: "number", in: "path" }, type: "integer", example: 7 });

const json = <T extends z.ZodType>(schema: T) => ({ content: { "application/json": { schema } } });
const nextCursor = z.string().nullable();

const queues = createRoute({
  method: "get",
  path: "/queues",
  operationId: "listQueues",
  summary: "Queues of the build-signal controller, by name",
  description: "Those that are configured and those that have had requests.",
  request: {
    query: z.object({
      project: projectName.optional().openapi({ param: { name: "project", in: "query" } }),
      cursor: cursorParameter,
      limit: pageSize(100, 200),
    }),
  },
  responses: {
    200: {
      description: "A page of queues",
      ...json(z.object({ queues: z.array(signalQueueSchema), nextCursor })),
    },
    ...problemResponses(400, 503),
  },
});

const oneQueue = createRoute({
  method: "get",
  path: "/queues/{queue}",
  operationId: "getQueue",
  summary: "A queue with its slots and its last green commit",
  request: { params: z.object({ queue: queueName }) },
  responses: { 200: { description: "The queue", ...json(signalQueueSchema) }, ...problemResponses(404, 503) },
});

const requests = createRoute({
  method: "get",
  path: "/queues/{queue}/requests",
  operationId: "listQueueRequests",
  summary: "Requests of a queue, newest first",
  request: {
    params: z.object({ queue: queueName }),
    query: z.object({
      state: listOf(z.enum(signalRequestStates), "Any of these states"),
      cursor: cursorParameter,
      limit: pageSize(50, 200),
    }),
  },
  responses: {
    200: {
      description: "A page of requests",
      ...json(z.object({ requests: z.array(signalRequestSchema), nextCursor })),
    },
    ...problemResponses(400, 404, 503),
  },
});

const oneRequest = createRoute({
  method: "get",
  path: "/queues/{queue}/requests/{number}",
  operationId: "getQueueRequest",
  summary: "A request with its builds and every change of its state",
  request: { params: z.object({ queue: queueName, number: requestNumber }) },
  responses: {
    200: { description: "The request", ...json(signalHistorySchema) },
    ...problemResponses(400, 404, 503),
  },
});

const letters = createRoute({
  method: "get",
  path: "/signal/dead-letters",
  operationId: "listSignalDeadLetters",
  summary: "What the build-signal controller has given up, newest first",
  request: {
    query: z.object({
      state: listOf(z.enum(signalLetterStates), "Any of these states"),
      queue: storableText.optional(),
      cursor: cursorParameter,
      limit: pageSize(50, 200),
    }),
  },
  responses: {
    200: {
      description: "A page of dead letters",
      ...json(z.object({ letters: z.array(signalLetterSchema), nextCursor })),
    },
    ...problemResponses(400, 503),
  },
});

const byName = z.tuple([z.string().max(200)]);
const byNumber = z.tuple([z.number().int().positive()]);

/** Queues, requests and dead letters, to be read. */
export function addSignalRoutes(api: Api, parts: ApiParts): void {
  addQueueReads(api, parts);
  addRequestReads(api, parts);
  api.openapi(letters, async (context) => {
    const { cursor, limit, state, queue } = context.req.valid("query");
    const before = cursor === undefined ? undefined : decodeCursor(cursor, byNumber);
    if (cursor !== undefined && before === undefined) return badCursor();
    const filter = { states: state, queue, before: before?.[0], limit: limit + 1 };
    const rows = await listLetters(parts.orm, context.get("viewer"), filter);
    const { page, last } = pageOf(rows, limit);
    const next = last === undefined ? null : encodeCursor([last.letter.id]);
    return context.json({ letters: page.map(presentLetter), nextCursor: next }, 200);
  });
}

function addQueueReads(api: Api, { orm }: ApiParts): void {
  api.openapi(queues, async (context) => {
    const { cursor, limit, project } = context.req.valid("query");
    const after = cursor === undefined ? undefined : decodeCursor(cursor, byName);
    if (cursor !== undefined && after === undefined) return badCursor();
    const filter = { project, after: after?.[0], limit: limit + 1 };
    const rows = await listQueues(orm, context.get("viewer"), filter);
    const { page, last } = pageOf(rows, limit);
    const open = await openLetters(
      orm,
      page.map((row) => row.name),
    );
    const shown = page.map((row) => presentQueue(row, open.get(row.name) ?? 0));
    return context.json(
      { queues: shown, nextCursor: last === undefined ? null : encodeCursor([last.name]) },
      200,
    );
  });
  api.openapi(oneQueue, async (context) => {
    const { queue } = context.req.valid("param");
    const [row] = await listQueues(orm, context.get("viewer"), { only: queue, limit: 1 });
    if (row === undefined) return notFound(`The queue ${queue}`);
    const open = await openLetters(orm, [queue]);
    return context.json(presentQueue(row, open.get(queue) ?? 0), 200);
  });
}

function addRequestReads(api: Api, { orm }: ApiParts): void {
  api.openapi(requests, async (context) => {
    const { queue } = context.req.valid("param");
    const { cursor, limit, state } = context.req.valid("query");
    const viewer = context.get("viewer");
    const before = cursor === undefined ? undefined : decodeCursor(cursor, byNumber);
    if (cursor !== undefined && before === undefined) return badCursor();
    const filter = { queue, states: state, before: before?.[0], limit: limit + 1 };
    const rows = await listRequests(orm, viewer, filter);
    if (rows.length === 0 && (await listQueues(orm, viewer, { only: queue, limit: 1 })).length === 0) {
      return notFound(`The queue ${queue}`);
    }
    const { page, last } = pageOf(rows, limit);
    const next = last === undefined ? null : encodeCursor([last.request.number]);
    return context.json({ requests: page.map(presentRequest), nextCursor: next }, 200);
  });
  api.openapi(oneRequest, async (context) => {
    const { queue, number } = context.req.valid("param");
    const [row] = await listRequests(orm, context.get("viewer"), { queue, only: number, limit: 1 });
    if (row === undefined) return notFound(`The request ${number} of ${queue}`);
    return context.json(presentHistory(row, await requestHistory(orm, row.request.id)), 200);
  });
}

/** The rows that are sent, and the last of them when there are more. */
function pageOf<T>(rows: readonly T[], limit: number): { page: T[]; last: T | undefined } {
  const page = rows.slice(0, limit);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}
