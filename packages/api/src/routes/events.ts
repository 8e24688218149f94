import { createRoute, z } from "@hono/zod-openapi";
import { readableEvent } from "../read/bep-json.ts";
import { bepFile } from "../read/bep-payload.ts";
import { storedEvents } from "../read/events.ts";
import { attemptNumber, invocationParams, pageSize } from "../resources/names.ts";
import { attachment, bodyOf } from "../web/body.ts";
import { immutable } from "../web/etag.ts";
import { problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

/** A page ends early when its events exceed this: about what a browser shows without a pause. */
const pageBytesMax = 2 * 1024 * 1024;

const eventSchema = z
  .object({
    sequence: z.number().int(),
    time: z.string().nullable(),
    kind: z.enum(["bazel", "stream-finished", "other", "malformed"]),
    payload: z.string().nullable().openapi({ example: "testSummary" }),
    id: z.string().nullable().openapi({ example: "testSummary" }),
    bytes: z.number().int(),
    event: z
      .unknown()
      .openapi({ type: "object", description: "The BEP event as JSON; null when it cannot be shown" }),
    base64: z.string().nullable().openapi({ description: "The stored google.devtools.build.v1.BuildEvent" }),
  })
  .openapi("Event");

const page = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/events",
  operationId: "listEvents",
  summary: "The stored events of an attempt, in order",
  description:
    "As they were received, but for values that scrubbing replaced. Large events come without content.",
  request: {
    params: invocationParams,
    query: z.object({
      attempt: attemptNumber,
      after: z.coerce
        .number()
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER - 1)
        .default(0)
        .openapi({ type: "integer", description: "Only events with a higher sequence number" }),
      limit: pageSize(100, 500),
    }),
  },
  responses: {
    200: {
      description: "A page of events",
      content: {
        "application/json": {
          schema: z.object({ events: z.array(eventSchema), nextAfter: z.number().int().nullable() }),
        },
      },
    },
    ...problemResponses(400, 404, 410, 503),
  },
});

const download = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/bep",
  operationId: "downloadBep",
  summary: "The attempt as a file like that of `--build_event_binary_file`",
  description:
    "Varint-delimited build_event_stream.BuildEvent messages, in order, as far as they are stored.",
  request: { params: invocationParams, query: z.object({ attempt: attemptNumber }) },
  responses: {
    200: {
      description: "The file",
      content: { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } },
    },
    ...problemResponses(400, 404, 410, 503),
  },
});

export function addEventRoutes(api: Api, parts: ApiParts): void {
  api.openapi(page, async (context) => {
    const query = context.req.valid("query");
    const viewer = context.get("viewer");
    const found = await attemptOr404(parts, viewer, {
      ...context.req.valid("param"),
      attempt: query.attempt,
    });
    if (found instanceof Response) return found;
    const at = { ...parts.source, orm: parts.orm, viewer, attemptId: found.invocation.attemptId };
    const events = [];
    let bytes = 0;
    let nextAfter: number | null = null;
    for await (const event of storedEvents(at, query.after + 1)) {
      if (events.length === query.limit || bytes > pageBytesMax) {
        nextAfter = event.sequence - 1;
        break;
      }
      const readable = readableEvent(event);
      bytes += readable.base64 === null ? 0 : event.bytes.length;
      events.push(readable);
    }
    return context.json({ events, nextAfter }, 200);
  });

  api.openapi(download, async (context) => {
    const { attempt } = context.req.valid("query");
    const name = context.req.valid("param");
    const viewer = context.get("viewer");
    const found = await attemptOr404(parts, viewer, { ...name, attempt });
    if (found instanceof Response) return found;
    const at = { ...parts.source, orm: parts.orm, viewer, attemptId: found.invocation.attemptId };
    return new Response(await bodyOf(bepFile(storedEvents(at, 1))), {
      headers: {
        "content-type": "application/octet-stream",
        "content-disposition": attachment(`${name.invocationId}.bep`),
        "cache-control": found.complete && attempt !== undefined ? immutable : "private, no-store",
      },
    });
  });
}
