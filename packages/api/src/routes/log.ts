import { createRoute, z } from "@hono/zod-openapi";
import { lineStart, logBytes } from "../read/log-bytes.ts";
import { attemptNumber, invocationParams } from "../resources/names.ts";
import { attachment, bodyOf } from "../web/body.ts";
import { contentRange, parseRange } from "../web/byte-range.ts";
import { immutable } from "../web/etag.ts";
import { problem, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

/** How long the log is at the moment of the answer, in bytes. */
export const logLengthHeader = "millrace-log-length";

/** The first byte of the answer in the whole log. */
const logFromHeader = "millrace-log-from";

const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const route = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/log",
  operationId: "getLog",
  summary: "The log of an attempt, or a part of it, as bytes",
  description:
    "What Bazel wrote to the terminal, byte for byte, control sequences included; it need not be valid UTF-8. " +
    "A part is asked for by `from_byte` and `to_byte` (exclusive) or by `from_line` and `to_line` (likewise), answered " +
    "with 200, or by the Range header, answered with 206. `millrace-log-from` says at which byte the answer begins.",
  request: {
    params: invocationParams,
    query: z.object({
      attempt: attemptNumber,
      from_byte: offset.openapi({ type: "integer", description: "First byte" }),
      to_byte: offset.openapi({ type: "integer", description: "The byte after the last" }),
      from_line: offset.openapi({ type: "integer", description: "First line, counted from 0" }),
      to_line: offset.openapi({ type: "integer", description: "The line after the last" }),
      download: z.enum(["true", "false"]).optional(),
    }),
  },
  responses: {
    200: {
      description: "The bytes",
      content: { "text/plain": { schema: z.string().openapi({ format: "binary" }) } },
    },
    206: { description: "The part named by the Range header" },
    ...problemResponses(400, 404, 410, 416, 503),
  },
});

export function addLogRoutes(api: Api, parts: ApiParts): void {
  api.openapi(route, async (context) => {
    const query = context.req.valid("query");
    const name = context.req.valid("param");
    const viewer = context.get("viewer");
    const found = await attemptOr404(parts, viewer, { ...name, attempt: query.attempt });
    if (found instanceof Response) return found;
    const total = found.logBytes;
    const at = { ...parts.source, orm: parts.orm, viewer, attemptId: found.invocation.attemptId };
    const places = { ...query, ...(await bytesOfLines(at, query, total)) };
    const wanted = wantedPart(places, { range: context.req.header("range"), total });
    if (wanted.kind === "unsatisfiable") return unsatisfiable(total);
    const part = { from: wanted.from, to: wanted.to };
    const headers: Record<string, string> = {
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(part.to - part.from),
      "accept-ranges": "bytes",
      [logLengthHeader]: String(total),
      [logFromHeader]: String(part.from),
      "cache-control": `${found.complete && query.attempt !== undefined ? immutable : "private, no-store"}, no-transform`,
    };
    if (wanted.kind === "part") headers["content-range"] = contentRange(part, total);
    if (query.download === "true") headers["content-disposition"] = attachment(`${name.invocationId}.log`);
    const body = part.from < part.to ? await bodyOf(logBytes(at, part)) : null;
    return new Response(body, { status: wanted.kind === "part" ? 206 : 200, headers });
  });
}

/** Lines as bytes; what the log does not have yet begins at its end. */
async function bytesOfLines(
  at: Parameters<typeof lineStart>[0],
  query: { from_line?: number | undefined; to_line?: number | undefined },
  total: number,
): Promise<{ from_byte?: number; to_byte?: number }> {
  const { from_line: fromLine, to_line: toLine } = query;
  if (fromLine === undefined && toLine === undefined) return {};
  const byteOf = async (line: number): Promise<number> =>
    Math.min((await lineStart(at, line)) ?? total, total);
  const to = toLine === undefined ? {} : { to_byte: await byteOf(toLine) };
  return { from_byte: await byteOf(fromLine ?? 0), ...to };
}

type Wanted = { kind: "all" | "part"; from: number; to: number } | { kind: "unsatisfiable" };

/** The query says more than the header, which a proxy may add. */
function wantedPart(
  query: { from_byte?: number | undefined; to_byte?: number | undefined },
  of: { range: string | undefined; total: number },
): Wanted {
  const { from_byte: from = 0, to_byte: to = of.total } = query;
  if (from > of.total || from > to) return { kind: "unsatisfiable" };
  if (query.from_byte !== undefined || query.to_byte !== undefined) {
    return { kind: "all", from, to: Math.min(to, of.total) };
  }
  const range = parseRange(of.range, of.total);
  return range.kind === "whole" ? { kind: "all", from: 0, to: of.total } : range;
}

function unsatisfiable(total: number): Response {
  return problem({
    status: 416,
    code: "range-not-satisfiable",
    detail: `The log has ${total} bytes.`,
    headers: { "content-range": `bytes */${total}`, [logLengthHeader]: String(total) },
  });
}
