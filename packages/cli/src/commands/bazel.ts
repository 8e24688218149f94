import { runBazelCommand } from "@millrace/mcp/command/bazel-command";
import type { Command } from "../command-line/command.ts";

/** One Bazel command with the MCP server's capture and answer; the exit code is Bazel's. */
export const bazel: Command = { run: (args) => runBazelCommand(args) };
