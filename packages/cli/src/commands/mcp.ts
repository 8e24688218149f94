import { join } from "node:path";
import { runMcpCommand } from "@millrace/mcp/command/mcp-command";
import type { Command } from "../command-line/command.ts";

const program = join(import.meta.dirname, "../../bin/millrace.mjs");

/** The local MCP server. It reads its own arguments; what it prints as configuration starts this checkout. */
export const mcp: Command = {
  run: (args) => runMcpCommand(args, { command: "node", args: [program, "mcp"] }),
};
