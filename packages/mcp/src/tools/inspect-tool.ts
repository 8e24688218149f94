import { z } from "zod";
import { type Encoded, encodeResult, type Json, type JsonObject } from "../answer/encode.ts";
import { pack } from "../answer/pack.ts";
import { refuse } from "../run/policy.ts";
import { isTerminal, states } from "../store/record.ts";
import { viewNames } from "../views/availability.ts";
import { invocationsPage } from "../views/invocations-page.ts";
import type { Page, PageRequest } from "../views/page.ts";
import { serverPage } from "../views/server-page.ts";
import { viewPage } from "../views/view-page.ts";
import { type Call, defineTool, type Tool, type ToolContext } from "./context.ts";
import { findRecord, noServer } from "./find-record.ts";
import { answerFor, waitFor } from "./wait.ts";

export const inspectBytesMax = 8192;

const schema = z.strictObject({
  invocation_id: z.string().optional().describe("Required for every view but invocations"),
  view: z.enum(viewNames),
  filter: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Substring, or a label glob such as //pkg/... or //pkg:*_test"),
  case_sensitive: z.boolean().optional().describe("Default false"),
  limit: z.number().int().min(1).max(100).optional().describe("Default 20"),
  max_bytes: z.number().int().min(512).max(inspectBytesMax).optional().describe("Default 8192"),
  cursor: z.string().optional().describe("next_cursor of the page before, with the same arguments"),
  stream: z.enum(["stdout", "stderr"]).optional().describe("Only for view log"),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .optional()
    .describe("Only for a running invocation: wait this long for its end"),
  project: z
    .string()
    .optional()
    .describe(
      "Only with a Millrace server: a build of this project; with view invocations, lists its builds",
    ),
  workspace: z.string().optional().describe("Only for view invocations"),
  state: z
    .enum(states as [string, ...string[]])
    .optional()
    .describe("Only for view invocations"),
  command: z.string().optional().describe("Only for view invocations"),
});

type Arguments = z.infer<typeof schema>;

export function inspectTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_inspect",
    title: "Look into a Bazel invocation",
    description:
      "Pages through what an invocation left: summary, metrics, diagnostics, targets, tests, test_log, coverage, artifacts, " +
      "query_results, log; view invocations lists all. Works on running ones too, and, when the server was started with --server, " +
      "on builds that a Millrace server stores (CI, colleagues), by the id in their links.",
    schema,
    isReadOnly: true,
    call: (args, call) => inspect(args, { call, context }),
  });
}

async function inspect(args: Arguments, at: { call: Call; context: ToolContext }): Promise<Encoded> {
  const { context } = at;
  context.store.refresh();
  const request: PageRequest = {
    limit: args.limit ?? 20,
    filter: args.filter,
    caseSensitive: args.case_sensitive ?? false,
    cursor: args.cursor,
    stream: args.stream,
  };
  if (args.view === "invocations") {
    if (args.invocation_id !== undefined) {
      throw refuse("inspect", "view invocations lists all; leave invocation_id out");
    }
    return encodePage(await listing(args, { request, context }), { args, context });
  }
  const id = checkId(args);
  const run = args.project === undefined ? context.runner.get(id) : undefined;
  if (run !== undefined && !isTerminal(run.invocation.state)) {
    const ended = await waitFor(run, { waitMs: args.wait_ms ?? 0, call: at.call, context });
    if (ended === undefined && (args.view === "summary" || args.view === "metrics")) {
      return answerFor(run, { invocation: undefined, context });
    }
    if (args.view === "summary") return answerFor(run, { invocation: ended, context });
  }
  const { project, wait_ms: waitMs } = args;
  const found = await findRecord(context, { id, project, waitMs, signal: at.call.signal });
  const seen = { ...context, store: found.store };
  const page = await viewPage(found.invocation, { view: args.view, request, context: seen });
  const encoded = encodePage(page, { args, context });
  if (!found.isOfServer) {
    context.store.count(id, "inspect_calls", 1);
    context.store.count(id, "model_visible_bytes", encoded.bytes);
  }
  return encoded;
}

/** All invocations of this store, or the builds of a project of the server. */
async function listing(args: Arguments, at: { request: PageRequest; context: ToolContext }): Promise<Page> {
  const { request, context } = at;
  const query = { workspace: args.workspace, state: args.state, command: args.command };
  if (args.project === undefined) return invocationsPage(context.store, { request, query });
  if (context.server === undefined) throw noServer();
  const maxBytes = args.max_bytes ?? inspectBytesMax;
  const { encoding } = context;
  return serverPage(context.server, { project: args.project, request, query, maxBytes, encoding });
}

function checkId(args: Arguments): string {
  if (args.workspace !== undefined || args.state !== undefined || args.command !== undefined) {
    throw refuse("inspect", "workspace, state and command belong to view invocations");
  }
  if (args.invocation_id === undefined) {
    throw refuse("inspect", `view ${args.view} needs invocation_id; view invocations lists them`);
  }
  return args.invocation_id;
}

/** Fits a page into its budget: whole items only, the cursor behind the last that is given. */
function encodePage(page: Page, at: { args: Arguments; context: ToolContext }): Encoded {
  const { args, context } = at;
  const maxBytes = args.max_bytes ?? inspectBytesMax;
  const fixed = (cursor: string | undefined, isTruncated: boolean): JsonObject => ({
    ...(args.invocation_id === undefined ? {} : { invocation_id: args.invocation_id }),
    view: args.view,
    total_count: page.totalCount,
    ...(page.filteredCount === null ? {} : { filtered_count: page.filteredCount }),
    ...(isTruncated ? { truncated: true } : {}),
    ...(cursor === undefined ? {} : { next_cursor: cursor }),
    ...(page.isPartial === true ? { note: "the search is not at its end; go on with next_cursor" } : {}),
  });
  // Reserves room for a cursor of any length that occurs.
  const room = fixed("x".repeat(72), true);
  const packed = pack(room, {
    lists: [{ name: "items", items: page.items, minimum: 0 }],
    maxBytes,
    encoding: context.encoding,
  });
  const kept = page.items.length - (packed.dropped.get("items") ?? 0);
  if (kept === 0 && page.items.length > 0) {
    throw refuse(
      "max-bytes",
      `the next item does not fit into max_bytes ${maxBytes}: allow more, up to ${inspectBytesMax}`,
    );
  }
  const items: readonly Json[] = page.items.slice(0, kept);
  const cursor = page.cursorAfter(kept);
  return encodeResult({ ...fixed(cursor, kept < page.items.length), items }, context.encoding);
}
