import { timingSafeEqual } from "node:crypto";
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Random } from "@millrace/base/random";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Assembly } from "./assemble.ts";
import { createMcpServer } from "./mcp-server.ts";

const sessionsMax = 64;
const path = "/mcp";

/** A running HTTP endpoint. */
export interface HttpEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Streamable HTTP on the loopback interface. Every local user can reach a port, and running Bazel is running code: so a
 * token is always asked for. Host and Origin are checked, so that no web page can reach it by a name that it controls.
 */
export async function serveHttp(
  assembly: Assembly,
  at: { port: number; token: string; random: Random },
): Promise<HttpEndpoint> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = createServer((request, response) => {
    const refusal = refusalOf(request, { token: at.token, port: portOf(server) });
    if (refusal !== undefined) return sendError(response, refusal);
    void handle(request, response, { assembly, sessions, random: at.random }).catch(() => {
      if (!response.headersSent)
        sendError(response, { status: 500, message: "the request failed in the server" });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at.port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server)}${path}`,
    close: async () => {
      for (const transport of sessions.values()) await transport.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: HttpServer): number {
  return (server.address() as AddressInfo).port;
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

function refusalOf(request: IncomingMessage, at: { token: string; port: number }): Refusal | undefined {
  const hosts = [`127.0.0.1:${at.port}`, `localhost:${at.port}`];
  if (!hosts.includes(request.headers.host ?? "")) {
    return { status: 403, message: `use the host name ${hosts.join(" or ")}` };
  }
  const { origin } = request.headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    return { status: 403, message: `requests of ${origin} are not served` };
  }
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${at.token}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    return {
      status: 401,
      message: "send the header Authorization: Bearer TOKEN with the token that the server printed",
    };
  }
  const isOurs = new URL(request.url ?? "/", "http://localhost").pathname === path;
  return isOurs ? undefined : { status: 404, message: `there is only ${path}` };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  at: { assembly: Assembly; sessions: Map<string, StreamableHTTPServerTransport>; random: Random },
): Promise<void> {
  const id = request.headers["mcp-session-id"];
  if (typeof id === "string") {
    const known = at.sessions.get(id);
    if (known === undefined)
      return sendError(response, { status: 404, message: "no such session: initialize again" });
    // Used last, so closed last.
    at.sessions.delete(id);
    at.sessions.set(id, known);
    return known.handleRequest(request, response);
  }
  if (at.sessions.size >= sessionsMax) await closeOldest(at.sessions);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => at.random.uuid(),
    onsessioninitialized: (session) => {
      at.sessions.set(session, transport);
    },
    onsessionclosed: (session) => {
      at.sessions.delete(session);
    },
  });
  const server = createMcpServer(at.assembly.context, at.assembly.tasks);
  // The SDK's own type lacks `| undefined` on a property that its classes set to undefined.
  await server.connect(transport as unknown as Parameters<typeof server.connect>[0]);
  return transport.handleRequest(request, response);
}

/** Many clients never say that they are done. */
async function closeOldest(sessions: Map<string, StreamableHTTPServerTransport>): Promise<void> {
  const [oldest] = sessions;
  if (oldest === undefined) return;
  sessions.delete(oldest[0]);
  await oldest[1].close();
}

function sendError(response: ServerResponse, refusal: Refusal): void {
  response.writeHead(refusal.status, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message: refusal.message }, id: null }),
  );
}
