#!/usr/bin/env node
import { runMcpCommand } from "./command/mcp-command.ts";

process.exit(await runMcpCommand(process.argv.slice(2)));
