import type { Tool, ToolContext } from "./context.ts";
import { depsTool, rdepsTool, targetsTool } from "./graph-tools.ts";
import { inspectTool } from "./inspect-tool.ts";
import { compareTool, historyTool } from "./past-tools.ts";
import { cancelTool, runTool } from "./run-tool.ts";

/** Every tool, in the order in which clients list them. */
export function allTools(context: ToolContext): Tool[] {
  const makers = [
    ...[runTool, inspectTool, cancelTool, compareTool, historyTool],
    ...[depsTool, rdepsTool, targetsTool],
  ];
  return makers.map((make) => make(context));
}
