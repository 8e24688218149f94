import { AssertionFailure } from "@millrace/base/assert";
import { errorText, MillraceError } from "@millrace/base/errors";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestTaskStore } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  type CreateTaskResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { allTools } from "../tools/all-tools.ts";
import type { Call, Tool, ToolContext } from "../tools/context.ts";
import { addResources } from "./resources.ts";
import { InvocationTasks } from "./task-store.ts";

const instructions =
  "Use bazel_run instead of calling bazel in a shell: it keeps all output on disk and answers with the cause first. " +
  "Then follow the answer's `next` with bazel_inspect. For long builds give wait_ms and go on waiting with bazel_inspect " +
  "view summary. Questions about the graph: bazel_deps, bazel_rdeps, bazel_targets. What changed: bazel_compare. " +
  "Flaky or slow tests: bazel_history.";

export const serverInfo = { name: "millrace-bazel", version: "0.1.0" };

/** Whether a run may be a task, never is one, or has to be one. */
export type ExecutionPolicy = "auto" | "sync_only" | "tasks_required";

/** What the operator decides about tasks. */
export interface TaskSettings {
  readonly policy: ExecutionPolicy;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** An MCP server for one connection. Several connections of a process share the context. */
export function createMcpServer(context: ToolContext, tasks: TaskSettings): Server {
  const tools = new Map(allTools(context).map((tool) => [tool.name, tool]));
  const server = new Server(serverInfo, {
    capabilities: { tools: {}, resources: {}, ...(tasks.policy === "sync_only" ? {} : taskCapability) },
    instructions,
    ...(tasks.policy === "sync_only" ? {} : { taskStore: new InvocationTasks(context, tasks) }),
  });
  addResources(server, context);
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [...tools.values()].map((tool) => describeTool(tool, tasks.policy)),
  }));
  server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
    const tool = tools.get(request.params.name);
    if (tool === undefined)
      return errorResult(`unknown tool ${request.params.name}; there are ${[...tools.keys()].join(", ")}`);
    if (request.params.task !== undefined)
      return createTask(tool, { ...request.params.task }, extra.taskStore);
    if (tool.canBeTask === true && tasks.policy === "tasks_required") {
      throw new McpError(ErrorCode.MethodNotFound, `${tool.name} has to be called as a task here`);
    }
    const token = extra._meta?.progressToken;
    let progress = 0;
    const call: Call = {
      signal: extra.signal,
      reportProgress:
        token === undefined
          ? undefined
          : (message) => {
              progress += 1;
              void extra
                .sendNotification({
                  method: "notifications/progress",
                  params: { progressToken: token, progress, message },
                })
                .catch(() => {}); // The connection is gone; the call's own end tells.
            },
    };
    return callTool(tool, { args: request.params.arguments ?? {}, call, context });
  });
  return server;
}

const taskCapability = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

/** A call as a task: the answer is the task, the result comes with tasks/result. */
async function createTask(
  tool: Tool,
  options: { ttl?: number | undefined },
  store: RequestTaskStore | undefined,
): Promise<CreateTaskResult | CallToolResult> {
  if (tool.canBeTask !== true || store === undefined) {
    throw new McpError(ErrorCode.MethodNotFound, `${tool.name} cannot be a task: call it directly`);
  }
  try {
    return { task: await store.createTask(options.ttl === undefined ? {} : { ttl: options.ttl }) };
  } catch (error) {
    throw new McpError(ErrorCode.InvalidParams, errorText(error));
  }
}

function describeTool(
  tool: Tool,
  policy: ExecutionPolicy,
): {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: "object" };
  annotations: { readOnlyHint: boolean; openWorldHint: boolean };
  execution?: { taskSupport: "optional" | "required" };
} {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.schema, { io: "input" });
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: schema as { type: "object" },
    annotations: { readOnlyHint: tool.isReadOnly, openWorldHint: false },
    ...(tool.canBeTask === true && policy !== "sync_only"
      ? { execution: { taskSupport: policy === "auto" ? "optional" : "required" } }
      : {}),
  };
}

/** Runs a tool; what a user can repair becomes an answer with `isError`. */
export async function callTool(
  tool: Tool,
  at: { args: Record<string, unknown>; call: Call; context: ToolContext },
): Promise<CallToolResult> {
  const parsed = tool.schema.safeParse(at.args);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`,
    );
    return errorResult(`${tool.name}: ${problems.join("; ")}`);
  }
  try {
    const encoded = await tool.call(parsed.data, at.call);
    return {
      content: [...encoded.content],
      ...(encoded.structuredContent === undefined ? {} : { structuredContent: encoded.structuredContent }),
    };
  } catch (error) {
    if (error instanceof AssertionFailure) throw error;
    if (!(error instanceof MillraceError))
      at.context.log.error("a tool failed", { tool: tool.name, error: errorText(error) });
    return errorResult(at.context.redactor.text(errorText(error)));
  }
}

function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
