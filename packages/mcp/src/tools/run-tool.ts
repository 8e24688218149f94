import { z } from "zod";
import { encodeResult } from "../answer/encode.ts";
import { defineTool, type Tool, type ToolContext } from "./context.ts";
import { answerFor, waitFor } from "./wait.ts";

export const runSchema = z.strictObject({
  workspace: z.string().describe("Absolute path of the Bazel workspace"),
  command: z.string().describe("Bazel command: build, test, query, cquery, aquery, coverage, info, …"),
  args: z
    .array(z.string())
    .optional()
    .describe('Flags and target patterns, for example ["//pkg/...", "--test_filter=Foo"]'),
  startup_args: z.array(z.string()).optional().describe("Bazel startup options"),
  target: z.string().optional().describe("Only for the command run: what to run"),
  program_args: z
    .array(z.string())
    .optional()
    .describe("Only for the command run: arguments of the program; never stored"),
  timeout_seconds: z.number().int().min(1).optional().describe("Default 1800"),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .optional()
    .describe("Answer after this time even if Bazel still works; go on with bazel_inspect. Default: wait"),
});

export function runTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_run",
    title: "Run Bazel",
    description:
      "Runs one Bazel command and answers with what matters: state, counts, and on failure the root cause first, within 8 KiB. " +
      'All output stays on disk; look into it with bazel_inspect. A failed build is a normal answer with state "failed".',
    schema: runSchema,
    isReadOnly: false,
    canBeTask: true,
    call: async (args, call) => {
      const run = await context.runner.start(args);
      const leave = (): void => run.cancel("the caller went away");
      call.signal.addEventListener("abort", leave);
      try {
        const invocation = await waitFor(run, { waitMs: args.wait_ms, call, context });
        return await answerFor(run, { invocation, context });
      } finally {
        call.signal.removeEventListener("abort", leave);
      }
    },
  });
}

export function cancelTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_cancel",
    title: "Cancel a Bazel invocation",
    description:
      "Cancels a queued or running invocation: SIGINT, later SIGTERM, later SIGKILL. Does nothing to one that is over.",
    schema: z.strictObject({
      invocation_id: z.string(),
      reason: z.string().optional().describe("Kept in the record"),
    }),
    isReadOnly: false,
    call: async (args) => {
      context.store.refresh();
      const result = await context.runner.cancel(args.invocation_id, args.reason ?? "");
      return encodeResult({ ...result }, context.encoding);
    },
  });
}
