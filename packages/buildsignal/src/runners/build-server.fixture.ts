import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import type { RunnerWorld, TriggerRequest } from "../runner.ts";
import { lookUpKey } from "./look-up-key.ts";

/** What a runner sent. */
export interface Seen {
  readonly method: string;
  /** With the query, as it came. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What the server does with a request: an answer, or something worse. */
export type Reply =
  | {
      readonly status?: number;
      readonly json?: unknown;
      readonly text?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | ((response: ServerResponse, seen: Seen) => void);

/** A build service on a free port of this machine that answers as it is told, in the order of the rules. */
export class BuildServer {
  readonly url: string;
  readonly seen: Seen[] = [];
  private readonly server: Server;
  private readonly waiting: { count: number; done: () => void }[] = [];
  private readonly rules: { method: string; path: string | RegExp; replies: Reply[] }[] = [];

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<BuildServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const started = new BuildServer(server);
    server.on("request", (request, response) => void started.take(request, response));
    return started;
  }

  /** Answers requests to the path (without its query) with the replies in turn; the last one stays. */
  on(rule: { method?: string; path: string | RegExp }, ...replies: Reply[]): void {
    this.rules.unshift({ method: rule.method ?? "GET", path: rule.path, replies });
  }

  /** Resolves when so many requests have come. */
  sawRequests(count: number): Promise<void> {
    if (this.seen.length >= count) return Promise.resolve();
    return new Promise((done) => this.waiting.push({ count, done }));
  }

  /** The requests of a method. */
  of(method: string): Seen[] {
    return this.seen.filter((one) => one.method === method);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {}); // A runner that gave up.
    let body = "";
    for await (const piece of request) body += piece;
    const { method = "", url = "", headers } = request;
    const seen = { method, path: url, headers, body };
    this.seen.push(seen);
    for (const one of this.waiting) if (this.seen.length >= one.count) one.done();
    const page = url.split("?")[0] ?? "";
    const rule = this.rules.find(
      (one) =>
        one.method === method && (typeof one.path === "string" ? one.path === page : one.path.test(page)),
    );
    const reply = rule === undefined || rule.replies.length > 1 ? rule?.replies.shift() : rule.replies[0];
    sendReply(response, { reply: reply ?? { status: 404, json: { message: "Not Found" } }, seen });
  }
}

/** Does what a reply says. */
export function sendReply(response: ServerResponse, what: { reply: Reply; seen: Seen }): void {
  const { reply, seen } = what;
  if (typeof reply === "function") return reply(response, seen);
  const body = reply.text ?? (reply.json === undefined ? "" : JSON.stringify(reply.json));
  const type = reply.json === undefined ? "text/plain" : "application/json";
  response.writeHead(reply.status ?? 200, { "content-type": type, ...reply.headers }).end(body);
}

/** The connection breaks without an answer. */
export const reset: Reply = (response) => response.socket?.resetAndDestroy();
/** No answer ever comes. */
export const silence: Reply = () => {};
/** The head and a part of the body come, and then nothing. */
export const stall =
  (status = 200): Reply =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"st');
  };
/** The head and a part of the body come, and then the connection breaks. */
export const breakOff =
  (status = 200): Reply =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"st', () => response.socket?.resetAndDestroy());
  };

/** A clock that tells when a timer of some length has been set. */
export class WatchedClock extends ScriptedClock {
  private readonly counts = new Map<number, number>();
  private readonly watchers: { delayMs: number; times: number; done: () => void }[] = [];

  override after(delayMs: number, action: () => void): () => void {
    const count = (this.counts.get(delayMs) ?? 0) + 1;
    this.counts.set(delayMs, count);
    for (const one of this.watchers) if (one.delayMs === delayMs && one.times <= count) one.done();
    return super.after(delayMs, action);
  }

  timersOf(delayMs: number): number {
    return this.counts.get(delayMs) ?? 0;
  }

  /** Resolves when timers of that length were set so many times. */
  sawTimer(delayMs: number, times: number): Promise<void> {
    if ((this.counts.get(delayMs) ?? 0) >= times) return Promise.resolve();
    return new Promise((done) => this.watchers.push({ delayMs, times, done }));
  }
}

/** When the tests' clock starts: 2026-12-01T00:00:00Z. */
export const startMs = Date.UTC(2026, 11, 1);
export const token = "s3cr3t-t0k3n-of-the-service";

export function runnerWorld(clock: ScriptedClock = new ScriptedClock(startMs)): RunnerWorld {
  const secrets = new Map([["ci-token", `${token}\n`]]);
  return { clock, random: systemRandom, log: silentLog, secret: (name) => secrets.get(name) };
}

export const neverAborted = new AbortController().signal;
export const commit = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
export const request: TriggerRequest = {
  queue: "trunk",
  project: "default",
  baseUri: "",
  headUri: `git://git.example/mono/refs/heads/main/${commit}`,
  key: "request/trunk/7#1",
  metadata: { author: "ada" },
};
/** What services know the request by. */
export const key = lookUpKey(request);
