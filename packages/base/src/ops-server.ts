import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Stoppable } from "./lifecycle.ts";
import type { Metrics } from "./metrics.ts";

/** `/metrics` in Prometheus' text format and `/healthz`: 200, or 503 with the reason. */
export async function startOpsServer(
  at: { host: string; port: number },
  from: { metrics: Metrics; unhealthy: () => string | undefined },
): Promise<Stoppable & { port: number }> {
  const server = createServer((request, response) => {
    void answer(request.url ?? "/", response);
  });
  const answer = async (url: string, response: ServerResponse): Promise<void> => {
    if (url === "/metrics") {
      const text = await from.metrics.text();
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
    } else if (url === "/healthz") {
      const reason = from.unhealthy();
      response.writeHead(reason === undefined ? 200 : 503).end(`${reason ?? "ok"}\n`);
    } else response.writeHead(404).end();
  };
  server.listen(at.port, at.host);
  await once(server, "listening");
  return {
    name: "ops server",
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
