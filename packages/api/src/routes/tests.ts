import { createRoute, z } from "@hono/zod-openapi";
import { testStatus } from "@millrace/proto/bep/enums";
import { cursorParameter, decodeCursor, encodeCursor, storableText } from "../cursor.ts";
import { listTestResults, listTests } from "../queries/tests.ts";
import { attemptNumber, invocationParams, listOf, listOfWhole, pageSize } from "../resources/names.ts";
import {
  presentTest,
  presentTestResult,
  testResultSchema,
  testSchema,
  testStatusNames,
} from "../resources/test.ts";
import { attemptTag, isKnown, notModified, revalidated } from "../web/etag.ts";
import { badCursor, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const summaries = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/tests",
  operationId: "listTests",
  summary: "Test targets of an attempt, by label",
  request: {
    params: invocationParams,
    query: z.object({
      attempt: attemptNumber,
      cursor: cursorParameter,
      limit: pageSize(200, 1_000),
      status: listOf(z.enum(testStatusNames), "Any of these statuses"),
      label: listOfWhole(storableText, "Exactly these labels"),
      contains: storableText.optional().openapi({ description: "A part of the label, whatever its case" }),
    }),
  },
  responses: {
    200: {
      description: "A page of tests",
      content: {
        "application/json": {
          schema: z.object({ tests: z.array(testSchema), nextCursor: z.string().nullable() }),
        },
      },
    },
    304: { description: "Not changed" },
    ...problemResponses(400, 404, 503),
  },
});

const results = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/test-results",
  operationId: "listTestResults",
  summary: "Every execution of one test: its runs, shards and attempts",
  request: {
    params: invocationParams,
    query: z.object({
      attempt: attemptNumber,
      cursor: cursorParameter,
      limit: pageSize(200, 1_000),
      label: storableText,
      configuration: storableText.default(""),
    }),
  },
  responses: {
    200: {
      description: "A page of results",
      content: {
        "application/json": {
          schema: z.object({ results: z.array(testResultSchema), nextCursor: z.string().nullable() }),
        },
      },
    },
    ...problemResponses(400, 404, 503),
  },
});

const testPlace = z.tuple([storableText, storableText]);
const int = z.number().int().min(-2_147_483_648).max(2_147_483_647);
const resultPlace = z.tuple([int, int, int]);
const statusNumbers = Object.values(testStatus);

export function addTestRoutes(api: Api, parts: ApiParts): void {
  api.openapi(summaries, async (context) => {
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, testPlace);
    if (query.cursor !== undefined && after === undefined) return badCursor();
    const found = await attemptOr404(parts, viewer, {
      ...context.req.valid("param"),
      attempt: query.attempt,
    });
    if (found instanceof Response) return found;
    const tag = attemptTag(found, { version: parts.server.version });
    if (isKnown(context.req.header("if-none-match"), tag)) return notModified(tag);
    const rows = await listTests(parts.orm, viewer, {
      attemptId: found.invocation.attemptId,
      filter: { labels: query.label, contains: query.contains },
      statuses: query.status?.map((name) => statusNumbers[testStatusNames.indexOf(name)] ?? -1),
      after,
      limit: query.limit + 1,
    });
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    const nextCursor = last === undefined ? null : encodeCursor([last.label, last.configuration]);
    context.header("etag", tag);
    context.header("cache-control", revalidated);
    return context.json({ tests: page.map(presentTest), nextCursor }, 200);
  });
}

export function addTestResultRoutes(api: Api, parts: ApiParts): void {
  api.openapi(results, async (context) => {
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, resultPlace);
    if (query.cursor !== undefined && after === undefined) return badCursor();
    const found = await attemptOr404(parts, viewer, {
      ...context.req.valid("param"),
      attempt: query.attempt,
    });
    if (found instanceof Response) return found;
    const rows = await listTestResults(parts.orm, viewer, {
      attemptId: found.invocation.attemptId,
      label: query.label,
      configuration: query.configuration,
      after,
      limit: query.limit + 1,
    });
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    const nextCursor = last === undefined ? null : encodeCursor([last.run, last.shard, last.attempt]);
    return context.json({ results: page.map(presentTestResult), nextCursor }, 200);
  });
}
