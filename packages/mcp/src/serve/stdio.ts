import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Assembly } from "./assemble.ts";
import { createMcpServer } from "./mcp-server.ts";

/** Serves one client on standard input and output until either side ends; then everything is stopped. */
export async function serveStdio(assembly: Assembly): Promise<void> {
  const server = createMcpServer(assembly.context, assembly.tasks);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.onclose = resolve;
  process.stdin.once("end", resolve);
  process.stdin.once("close", resolve);
  process.once("SIGTERM", resolve);
  process.once("SIGINT", resolve);
  await server.connect(new StdioServerTransport());
  await closed;
  await assembly.close();
  await server.close();
}
