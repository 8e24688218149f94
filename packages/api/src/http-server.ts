import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { type Clock, every } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import type { Stoppable } from "@millrace/base/lifecycle";

export interface HttpServer extends Stoppable {
  readonly port: number;
}

/** Listens, and resolves when it does. Stopping answers what was asked and closes idle connections. */
export async function startHttpServer(at: {
  fetch: (request: Request) => Response | Promise<Response>;
  host: string;
  port: number;
  clock: Clock;
}): Promise<HttpServer> {
  const server = serve({ fetch: at.fetch, hostname: at.host, port: at.port }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) =>
      reject(
        new MillraceError({
          remedy: "crash",
          code: "cannot-listen",
          message: `cannot listen on ${at.host}:${at.port}`,
          cause: error,
        }),
      ),
    );
  });
  return {
    name: "http",
    port: (server.address() as AddressInfo).port,
    stop: () => closeServer(server, at.clock),
  };
}

/** A connection that answers now is closed as soon as it idles, whatever the client's keep-alive says. */
const idleCheckPeriodMs = 50;
/** A download that takes longer than this after the end was asked for is cut. */
const closeDeadlineMs = 5_000;

async function closeServer(server: Server, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const stopChecking = every(clock, idleCheckPeriodMs, () => server.closeIdleConnections());
  const cancelDeadline = clock.after(closeDeadlineMs, () => server.closeAllConnections());
  await closed;
  stopChecking();
  cancelDeadline();
}
