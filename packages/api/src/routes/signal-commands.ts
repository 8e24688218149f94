import { createRoute, z } from "@hono/zod-openapi";
import type { SignalAnswer, SignalCommand } from "@millrace/proto/channels";
import { storableText } from "../cursor.ts";
import { listLetters } from "../queries/signal-letters.ts";
import { findQueueConfig, projectsOfQueue } from "../queries/signals.ts";
import { presentConfiguration } from "../resources/present-signals.ts";
import { signalConfigurationSchema, signalDoneSchema } from "../resources/signals.ts";
import { isAdmin, type SignalAccess } from "../signal-access.ts";
import { maySee, type Viewer } from "../viewer.ts";
import { notFound, type ProblemStatus, problem, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { queueName, requestNumber } from "./signals.ts";

const ofQueue = z.object({ queue: queueName });
const ofRequest = z.object({ queue: queueName, number: requestNumber });
const letterId = z.coerce
  .number()
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .openapi({ param: { name: "id", in: "path" }, type: "integer" });
const ofLetter = z.object({ id: letterId, what: z.enum(["redrive", "discard"]) });

const body = <T extends z.ZodType>(schema: T) => ({
  content: { "application/json": { schema } },
  required: true,
});
const security = [{ adminToken: [] }];
const problems = problemResponses(400, 401, 403, 404, 409, 503);
const responses = {
  200: { description: "Done", content: { "application/json": { schema: signalDoneSchema } } },
  ...problems,
};

const announcement = z.object({
  uri: storableText.optional().openapi({ description: "The commit; left out: the queue's source is asked" }),
  metadata: z.record(z.string(), z.string()).optional(),
});
const configuration = z.object({
  configuration: z.record(z.string(), z.unknown()).openapi({ description: "See docs/buildsignal.md" }),
  version: z
    .number()
    .int()
    .min(0)
    .optional()
    .openapi({ description: "The one that was read; 0: there must be none; left out: whatever there is" }),
});

const announce = createRoute({
  method: "post",
  path: "/queues/{queue}/requests",
  operationId: "announceCommit",
  summary: "Announces a commit to be validated",
  description: "May be repeated: a commit that has a request keeps it, unless it ended without a verdict.",
  security,
  request: { params: ofQueue, body: body(announcement) },
  responses,
});
const cancel = createRoute({
  method: "post",
  path: "/queues/{queue}/requests/{number}/cancel",
  operationId: "cancelQueueRequest",
  summary: "Cancels a request",
  description: "Without a build it ends at once; a build is asked to stop, and how it ends is the outcome.",
  security,
  request: { params: ofRequest },
  responses,
});
const settle = createRoute({
  method: "post",
  path: "/signal/dead-letters/{id}/{what}",
  operationId: "settleSignalDeadLetter",
  summary: "Has a dead letter handled again, or sets it aside for good",
  security,
  request: { params: ofLetter },
  responses,
});
const stop = createRoute({
  method: "put",
  path: "/queues/{queue}/gate",
  operationId: "stopQueue",
  summary: "Keeps a queue's requests from being admitted; what is being validated goes on",
  security,
  request: { params: ofQueue, body: body(z.object({ reason: storableText.max(500).default("") })) },
  responses,
});
const start = createRoute({
  method: "delete",
  path: "/queues/{queue}/gate",
  operationId: "startQueue",
  summary: "Lets a stopped queue go on",
  security,
  request: { params: ofQueue },
  responses,
});
const configure = createRoute({
  method: "put",
  path: "/queues/{queue}/configuration",
  operationId: "configureQueue",
  summary: "Makes or changes a queue",
  security,
  request: { params: ofQueue, body: body(configuration) },
  responses,
});
const unconfigure = createRoute({
  method: "delete",
  path: "/queues/{queue}/configuration",
  operationId: "removeQueue",
  summary: "Removes a queue's configuration; its requests and facts stay",
  security,
  request: { params: ofQueue },
  responses,
});
const readConfiguration = createRoute({
  method: "get",
  path: "/queues/{queue}/configuration",
  operationId: "getQueueConfiguration",
  summary: "A queue's configuration as it was given",
  security,
  request: { params: ofQueue },
  responses: {
    200: {
      description: "The configuration",
      content: { "application/json": { schema: signalConfigurationSchema } },
    },
    ...problems,
  },
});

const authorization = "authorization";

/** What a route about a queue knows of its request. */
interface Asked {
  readonly req: { header(name: string): string | undefined; valid(of: "param"): { readonly queue: string } };
  get(name: "viewer"): Viewer;
}

/** What changes something. Everything here wants the admin token, in a header that no other site can make a browser send. */
export function addSignalCommandRoutes(api: Api, parts: ApiParts): void {
  api.openAPIRegistry.registerComponent("securitySchemes", "adminToken", { type: "http", scheme: "bearer" });
  const { orm } = parts;
  const admin = (header: string | undefined) => administrator(parts.signals, header);
  /** Asks for something that is done to a queue of a project which the viewer may see. */
  const send = async (context: Asked, command: SignalCommand, into?: unknown): Promise<Response> => {
    const access = admin(context.req.header(authorization));
    if (access instanceof Response) return access;
    const { queue } = context.req.valid("param");
    const viewer = context.get("viewer");
    const projects = [...(await projectsOfQueue(orm, queue)), ...(into === undefined ? [] : [String(into)])];
    if (!projects.every((project) => maySee(viewer, project))) return notFound(`The queue ${queue}`);
    return answerOf(await access.send(command));
  };

  api.openapi(announce, (context) => {
    const { queue } = context.req.valid("param");
    const { uri, metadata } = context.req.valid("json");
    const said = { ...(uri !== undefined && { uri }), ...(metadata !== undefined && { metadata }) };
    return send(context, { kind: "ingest", queue, ...said });
  });
  api.openapi(cancel, (context) => {
    const { queue, number } = context.req.valid("param");
    const requestId = `request/${queue}/${number}`;
    return send(context, { kind: "cancel", requestId });
  });
  api.openapi(settle, async (context) => {
    const access = admin(context.req.header(authorization));
    if (access instanceof Response) return access;
    const { id, what } = context.req.valid("param");
    const [row] = await listLetters(orm, context.get("viewer"), { only: id, limit: 1 });
    if (row === undefined) return notFound(`The dead letter ${id}`);
    const { topic, groupName: group, partitionKey: key, messageId } = row.letter;
    return answerOf(await access.send({ kind: what, letter: { topic, group, key, messageId } }));
  });
  api.openapi(stop, (context) => {
    const { queue: key } = context.req.valid("param");
    const { reason } = context.req.valid("json");
    const command = { kind: "close-gate", stage: "process", key, reason } as const;
    return send(context, command);
  });
  api.openapi(start, (context) => {
    const { queue: key } = context.req.valid("param");
    return send(context, { kind: "open-gate", stage: "process", key });
  });
  api.openapi(configure, (context) => {
    const { queue } = context.req.valid("param");
    const { configuration: config, version } = context.req.valid("json");
    const command = { kind: "configure", queue, config, ...(version !== undefined && { version }) } as const;
    return send(context, command, config["project"] ?? "default");
  });
  api.openapi(unconfigure, (context) => {
    const { queue } = context.req.valid("param");
    return send(context, { kind: "unconfigure", queue });
  });
  api.openapi(readConfiguration, async (context) => {
    const access = admin(context.req.header(authorization));
    if (access instanceof Response) return access;
    const { queue } = context.req.valid("param");
    const row = await findQueueConfig(orm, context.get("viewer"), queue);
    if (row === undefined) return notFound(`The configuration of the queue ${queue}`);
    return context.json(presentConfiguration(row), 200);
  });
}

/** The way to the controller for who may use it, or the answer for who may not. */
function administrator(
  access: SignalAccess | undefined,
  authorization: string | undefined,
): SignalAccess | Response {
  if (access === undefined || access.adminToken === "") {
    const detail =
      "Nobody administers this server over the API: set MILLRACE_ADMIN_TOKEN, or use `millrace signal`.";
    return problem({ status: 403, code: "no-admin-token", detail });
  }
  if (isAdmin(access, authorization)) return access;
  const detail = "This needs the admin token: send `Authorization: Bearer TOKEN`.";
  return problem({
    status: 401,
    code: "not-admin",
    detail,
    headers: { "www-authenticate": 'Bearer realm="millrace"' },
  });
}

const refusals: Readonly<Record<string, ProblemStatus>> = {
  "not-found": 404,
  "unknown-queue": 404,
  "version-mismatch": 409,
  "of-file": 409,
  "other-project": 409,
  busy: 409,
};

function answerOf(answer: SignalAnswer): Response {
  if (answer.kind === "refused") {
    const { code, message } = answer;
    return problem({ status: refusals[code] ?? 400, code, detail: `${message}.` });
  }
  const { requestId = null, state = null, version = null } = answer;
  return Response.json({ requestId, state, version }, { headers: { "cache-control": "no-store" } });
}
