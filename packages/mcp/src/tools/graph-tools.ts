import { z } from "zod";
import { type Encoded, encodeResult, type Json, type JsonObject } from "../answer/encode.ts";
import { pack } from "../answer/pack.ts";
import { failureBytesMax } from "../answer/run-answer.ts";
import { fileStart, readRows } from "../pages/row-page.ts";
import { refuse } from "../run/policy.ts";
import { file } from "../store/layout.ts";
import type { Invocation } from "../store/record.ts";
import { type Call, defineTool, type Tool, type ToolContext } from "./context.ts";
import { answerFor, waitFor } from "./wait.ts";

const rowsShownMax = 100;

const common = {
  workspace: z.string().describe("Absolute path of the Bazel workspace"),
  startup_args: z.array(z.string()).optional(),
  limit: z.number().int().min(1).max(rowsShownMax).optional().describe("Rows shown; default 50"),
};
const depth = z.number().int().min(1).max(1000).optional();
const kind = z
  .string()
  .regex(/^[\w .*|-]+$/)
  .optional()
  .describe("Regular expression for the rule kind, for example cc_.*");

/** A label or pattern, quoted for the query language; what could end the quotes is refused. */
export function quoteTarget(target: string): string {
  if (target === "" || !/^[@/:\w.+=,~#$!%^\-*&()[\]{} ]+$/.test(target) || target.startsWith("-")) {
    throw refuse(
      "label",
      `${JSON.stringify(target)} is not a label or target pattern such as //pkg:name or //pkg/...`,
    );
  }
  return `"${target}"`;
}

interface GraphQuestion {
  readonly workspace: string;
  readonly startup_args?: readonly string[] | undefined;
  readonly limit?: number | undefined;
}

function withKind(expression: string, kindPattern: string | undefined): string {
  return kindPattern === undefined ? expression : `kind("${kindPattern}", ${expression})`;
}

/** The rule that generates a file is listed as well; the file says nothing more. */
function withoutGenerated(expression: string): string {
  return `let all = ${expression} in $all except kind("generated file", $all)`;
}

export function depsTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_deps",
    title: "What a target depends on",
    description: "Dependencies of a target, or with `to` one path between two targets (why does A need B?).",
    schema: z.strictObject({
      ...common,
      target: z.string(),
      to: z.string().optional().describe("Show one dependency path from target to this one"),
      depth: depth.describe("Default: all; 1 is direct dependencies"),
      kind,
      include_external: z.boolean().optional().describe("Default false: only targets of this repository"),
    }),
    isReadOnly: true,
    call: (args, call) => {
      const target = quoteTarget(args.target);
      if (args.to !== undefined) {
        return ask(
          { ...args, expression: `somepath(${target}, ${quoteTarget(args.to)})` },
          { call, context },
        );
      }
      const bound = args.depth === undefined ? "" : `, ${args.depth}`;
      const all = `deps(${target}${bound}) except ${target}`;
      const own = args.include_external === true ? all : `filter("^//", ${all})`;
      const wanted = args.kind === undefined ? withoutGenerated(own) : withKind(own, args.kind);
      return ask({ ...args, expression: wanted }, { call, context });
    },
  });
}

export function rdepsTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_rdeps",
    title: "What depends on a target",
    description:
      "Targets that depend on a target: what to rebuild or test after a change. `tests_only` gives the tests.",
    schema: z.strictObject({
      ...common,
      target: z.string(),
      universe: z.string().optional().describe("Where to look; default //..."),
      depth: depth.describe("Default: all; 1 is direct dependents"),
      kind,
      tests_only: z.boolean().optional(),
    }),
    isReadOnly: true,
    call: (args, call) => {
      const target = quoteTarget(args.target);
      const bound = args.depth === undefined ? "" : `, ${args.depth}`;
      const all = `rdeps(${quoteTarget(args.universe ?? "//...")}, ${target}${bound}) except ${target}`;
      if (args.tests_only === true) {
        return ask({ ...args, expression: withKind(`tests(${all})`, args.kind) }, { call, context });
      }
      const wanted = args.kind === undefined ? withoutGenerated(all) : withKind(all, args.kind);
      return ask({ ...args, expression: wanted }, { call, context });
    },
  });
}

export function targetsTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_targets",
    title: "Targets below a pattern",
    description:
      "Lists the targets of a package or a tree, by kind, or shows one rule as written in its BUILD file.",
    schema: z.strictObject({
      ...common,
      pattern: z.string().describe("//pkg:all, //pkg/... or one label"),
      kind,
      tests_only: z.boolean().optional(),
      show_build: z.boolean().optional().describe("Give the rules' definitions instead of their names"),
    }),
    isReadOnly: true,
    call: (args, call) => {
      const pattern = quoteTarget(args.pattern);
      const wanted = args.tests_only === true ? `tests(${pattern})` : pattern;
      const output = args.show_build === true ? "build" : "label_kind";
      return ask({ ...args, expression: withKind(wanted, args.kind), output }, { call, context });
    },
  });
}

/** Asks as an ordinary query invocation: recorded, cancellable, its rows all on disk. */
async function ask(
  question: GraphQuestion & { expression: string; output?: string },
  at: { call: Call; context: ToolContext },
): Promise<Encoded> {
  const { context, call } = at;
  const output = question.output ?? "label_kind";
  const args = [
    "--keep_going",
    `--output=${output}`,
    "--noimplicit_deps",
    "--notool_deps",
    "--",
    question.expression,
  ];
  const { workspace, startup_args } = question;
  const run = await context.runner.start({ workspace, startup_args, command: "query", args });
  const leave = (): void => run.cancel("the caller went away");
  call.signal.addEventListener("abort", leave);
  try {
    const invocation = await waitFor(run, { waitMs: undefined, call, context });
    const hasRows = (invocation?.summary?.query_result_count ?? 0) > 0;
    if (invocation === undefined || (invocation.state !== "succeeded" && !hasRows)) {
      return await answerFor(run, { invocation, context });
    }
    return rowsAnswer(invocation, { question, context });
  } finally {
    call.signal.removeEventListener("abort", leave);
  }
}

function rowsAnswer(
  invocation: Invocation,
  at: { question: GraphQuestion & { expression: string }; context: ToolContext },
): Encoded {
  const { context } = at;
  const { id } = invocation.request;
  const page = readRows({
    path: context.store.pathOf(id, file.stdout),
    from: fileStart,
    limit: at.question.limit ?? 50,
    redact: context.redactor.text,
    ...{ timeBudgetMs: 1000, clock: context.clock },
  });
  const total = invocation.summary?.query_result_count ?? 0;
  const fixed = (hasMore: boolean): JsonObject => ({
    invocation_id: id,
    query: at.question.expression,
    count: total,
    ...(invocation.state === "succeeded"
      ? {}
      : { partial: invocation.summary?.headline ?? "some packages failed to load" }),
    ...(hasMore
      ? { next: `bazel_inspect {"invocation_id": "${id}", "view": "query_results", "filter": "…"}` }
      : {}),
  });
  const items = page.rows.map((row): Json => row.value);
  const packed = pack(fixed(true), {
    lists: [{ name: "targets", items, minimum: 0 }],
    maxBytes: failureBytesMax,
    encoding: context.encoding,
  });
  const kept = items.length - (packed.dropped.get("targets") ?? 0);
  const encoded = encodeResult({ ...fixed(kept < total), targets: items.slice(0, kept) }, context.encoding);
  context.store.count(id, "model_visible_bytes", encoded.bytes);
  return encoded;
}
