import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { MillraceError } from "@millrace/base/errors";

export interface OpsPorts {
  readonly isReady: () => boolean;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  /** Kills a worker thread; undefined unless fail points are enabled. */
  readonly crashThread: ((index: number) => boolean) | undefined;
}

const crashPath = /^\/debug\/crash-thread\/(\d+)$/;

/** HTTP for those who operate the process, on a port of its own: balancers treat gRPC and HTTP differently. */
export class OpsServer {
  private readonly server: Server;
  private readonly ports: OpsPorts;

  constructor(ports: OpsPorts) {
    this.ports = ports;
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  /** @param at.port 0: any free one */
  listen(at: { host: string; port: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once("error", (cause) => {
        const message = `HTTP for operators cannot listen on ${at.host}:${at.port}: another process may have the port`;
        reject(new MillraceError({ remedy: "crash", code: "ops-bind", message, cause }));
      });
      this.server.listen(at.port, at.host, () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, text, contentType = "text/plain; charset=utf-8" } = await this.answer(request);
    response.writeHead(status, { "content-type": contentType });
    response.end(text);
  }

  private async answer(request: IncomingMessage): Promise<Answer> {
    const path = (request.url ?? "").split("?")[0] ?? "";
    if (path === "/healthz") return answer(200, "alive\n");
    if (path === "/readyz") return this.ports.isReady() ? answer(200, "ready\n") : answer(503, "draining\n");
    if (path === "/metrics") {
      const text = await this.ports.metrics();
      return { status: 200, text, contentType: "text/plain; version=0.0.4; charset=utf-8" };
    }
    const crash = crashPath.exec(path);
    if (crash !== null && request.method === "POST") return this.crash(request, Number(crash[1]));
    return answer(404, "there are /healthz, /readyz and /metrics here\n");
  }

  private crash(request: IncomingMessage, index: number): Answer {
    const { crashThread } = this.ports;
    if (crashThread === undefined) return answer(404, "fail points are off (MILLRACE_FAIL_POINTS)\n");
    if (!isLoopback(request.socket.remoteAddress ?? "")) {
      return answer(403, "fail points answer on the loopback interface only\n");
    }
    if (crashThread(index)) return answer(202, `thread ${index} is killed\n`);
    return answer(404, `there is no thread ${index}\n`);
  }
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
}

function answer(status: number, text: string): Answer {
  return { status, text };
}
