import { createRoute, z } from "@hono/zod-openapi";
import { NamedSetGraph } from "@millrace/proto/bep/named-set-graph";
import { cursorParameter, decodeCursor, encodeCursor, storableText } from "../cursor.ts";
import { listNamedSetBlocks, readNamedSetBlocks, readOutputsSequence } from "../queries/named-sets.ts";
import { type OutputFile, targetOutputs } from "../read/target-outputs.ts";
import { attemptNumber, invocationParams, pageSize } from "../resources/names.ts";
import type { Viewer } from "../viewer.ts";
import { badCursor, notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const outputSchema = z
  .object({
    group: z.string().openapi({ description: "Output group; `directories` for whole output directories" }),
    path: z.string(),
    uri: z.string().nullable(),
    bytes: z.number().int().nullable(),
    digest: z.string().nullable(),
    symlinkTarget: z.string().nullable(),
  })
  .openapi("Output");

const list = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/outputs",
  operationId: "listOutputs",
  summary: "The files that a target made, by output group; named sets of files are expanded page by page",
  request: {
    params: invocationParams,
    query: z.object({
      attempt: attemptNumber,
      cursor: cursorParameter,
      limit: pageSize(200, 1_000),
      label: storableText,
      aspect: storableText.default(""),
      configuration: storableText.default(""),
    }),
  },
  responses: {
    200: {
      description: "A page of files",
      content: {
        "application/json": {
          schema: z.object({ outputs: z.array(outputSchema), nextCursor: z.string().nullable() }),
        },
      },
    },
    ...problemResponses(400, 404, 503),
  },
});

/** How many files are before the page. */
const place = z.tuple([z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)]);

export function addOutputRoutes(api: Api, parts: ApiParts): void {
  api.openapi(list, async (context) => {
    const { cursor, limit, attempt, label, aspect, configuration } = context.req.valid("query");
    const viewer = context.get("viewer");
    const start = cursor === undefined ? [0] : decodeCursor(cursor, place);
    if (start === undefined) return badCursor();
    const found = await attemptOr404(parts, viewer, { ...context.req.valid("param"), attempt });
    if (found instanceof Response) return found;
    const { attemptId } = found.invocation;
    const name = { attemptId, label, aspect, configuration };
    const target = await readOutputsSequence(parts.orm, viewer, name);
    if (target === undefined) return notFound("The target");
    const sets = namedSetsOf(parts, viewer, attemptId);
    const outputs = target.sequence === null ? undefined : await sets.outputs(target.sequence);
    const files = outputs === undefined ? noFiles() : targetOutputs(outputs, sets);
    const from = start[0] ?? 0;
    const page = await filesBetween(files, { from, to: from + limit + 1 });
    const shown = page.slice(0, limit);
    const nextCursor = page.length > limit ? encodeCursor([from + limit]) : null;
    return context.json({ outputs: shown, nextCursor }, 200);
  });
}

async function* noFiles(): AsyncGenerator<OutputFile> {}

function namedSetsOf({ orm, source }: ApiParts, viewer: Viewer, attemptId: number): NamedSetGraph {
  return new NamedSetGraph({
    places: () => listNamedSetBlocks(orm, viewer, attemptId),
    blocks: async (places) => {
      const blocks = await readNamedSetBlocks(orm, viewer, { attemptId, places });
      const nothing = new Uint8Array(0);
      return Promise.all(blocks.map((data) => (data === undefined ? nothing : source.zstd.decompress(data))));
    },
  });
}

async function filesBetween(
  files: AsyncGenerator<OutputFile>,
  { from, to }: { from: number; to: number },
): Promise<OutputFile[]> {
  const page: OutputFile[] = [];
  let at = 0;
  for await (const file of files) {
    if (at >= from) page.push(file);
    at += 1;
    if (at >= to) break;
  }
  return page;
}
