#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Clients start a server per session: compiled code from the last start saves most of this one.
enableCompileCache();
const { runMcpCommand } = await import("./command/mcp-command.ts");
process.exit(await runMcpCommand(process.argv.slice(2)));
