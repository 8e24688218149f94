import type { Tool, ToolContext } from "./context.ts";
import { inspectTool } from "./inspect-tool.ts";
import { cancelTool, runTool } from "./run-tool.ts";

/** Every tool, in the order in which clients list them. */
export function allTools(context: ToolContext): Tool[] {
  return [runTool(context), inspectTool(context), cancelTool(context)];
}
