import type { Clock } from "@millrace/base/clock";
import { errorCode } from "@millrace/base/errors";
import { type RunnerCall, RunnerError } from "../../runner-error.ts";
import type { HttpLimits } from "./limits.ts";

export interface BoundedRequest {
  readonly call: RunnerCall;
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export interface BoundedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface FetchWorld {
  readonly clock: Clock;
  readonly limits: HttpLimits;
}

const redirectsMax = 3;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * One request under `HttpLimits`. Redirects of GET are followed inside the origin, at most three; to another origin they
 * are refused, because the request carries a credential; those of other methods are handed back as they are.
 *
 * Failures are `RunnerError`s that name method, host and path, never a query, a header or a body: `transient` when the
 * connection failed or a time limit passed, `invalid` for a redirect elsewhere or a body that is too large. If the head
 * of the answer said 2xx and its body cannot be had, a trigger is `uncertain`. If the head said anything else it counts
 * without its body.
 */
export async function boundedFetch(request: BoundedRequest, world: FetchWorld): Promise<BoundedAnswer> {
  const watch = new Watch(world, request.signal);
  try {
    let url = request.url;
    for (let hops = 0; ; hops += 1) {
      const response = await send({ ...request, url }, watch);
      const next = redirectOf(response, { url, request });
      if (next === undefined) {
        return {
          status: response.status,
          headers: response.headers,
          body: await bodyOf(response, { request, watch, limits: world.limits }),
        };
      }
      await response.body?.cancel();
      if (hops === redirectsMax) throw failure(request, { kind: "invalid", what: "too many redirects" });
      url = next;
    }
  } finally {
    watch.end();
  }
}

/** `boundedFetch` in the shape that clients made for `fetch` take. Its failures are the same. */
export function fetchWithin(world: FetchWorld, call: RunnerCall): typeof globalThis.fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    const body = asked.body === null ? undefined : await asked.text();
    const answer = await boundedFetch(
      {
        call,
        method: asked.method,
        url: new URL(asked.url),
        headers: asked.headers,
        body,
        signal: asked.signal,
      },
      world,
    );
    const headers = new Headers(answer.headers);
    headers.delete("content-encoding"); // The body is decoded.
    return new Response(answer.body.length === 0 ? null : answer.body, { status: answer.status, headers });
  };
}

/** The time limits of one request: aborts it when one passes or the caller says so. */
class Watch {
  readonly signal: AbortSignal;
  /** Which limit passed, for the message. */
  passed: string | undefined;
  private readonly world: FetchWorld;
  private readonly abort = new AbortController();
  private readonly cancelRequest: () => void;
  private cancelStall: () => void = () => {};

  constructor(world: FetchWorld, callers: AbortSignal) {
    this.world = world;
    this.signal = AbortSignal.any([callers, this.abort.signal]);
    const { request_ms: requestMs } = world.limits;
    this.cancelRequest = world.clock.after(requestMs, () =>
      this.end(`no complete answer in ${requestMs} ms`),
    );
  }

  /** A byte of the body came, or its head. */
  progressed(): void {
    this.cancelStall();
    const { stall_ms: stallMs } = this.world.limits;
    this.cancelStall = this.world.clock.after(stallMs, () =>
      this.end(`no byte of the body in ${stallMs} ms`),
    );
  }

  end(passed?: string): void {
    this.passed ??= passed;
    this.cancelRequest();
    this.cancelStall();
    this.abort.abort();
  }
}

async function send(request: BoundedRequest, watch: Watch): Promise<Response> {
  try {
    return await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: "manual",
      signal: watch.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
  } catch (error) {
    throw failure(request, { kind: "transient", what: reasonOf(error, watch), cause: error });
  }
}

function redirectOf(response: Response, of: { url: URL; request: BoundedRequest }): URL | undefined {
  const to = response.headers.get("location");
  if (of.request.method !== "GET" || to === null || !redirectStatuses.has(response.status)) return undefined;
  const target = URL.canParse(to, of.url) ? new URL(to, of.url) : undefined;
  if (target?.origin === of.url.origin) return target;
  const elsewhere = target === undefined ? "to no URL" : `to ${target.origin}`;
  throw failure(of.request, { kind: "invalid", what: `redirected ${elsewhere}, which is not followed` });
}

async function bodyOf(
  response: Response,
  on: { request: BoundedRequest; watch: Watch; limits: HttpLimits },
): Promise<Uint8Array<ArrayBuffer>> {
  const { request, watch } = on;
  const problem = (kind: "transient" | "invalid", what: string, cause?: unknown): RunnerError =>
    failure(request, { kind: request.call === "trigger" ? "uncertain" : kind, what, cause });
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    watch.progressed();
    for await (const piece of response.body ?? []) {
      watch.progressed();
      length += piece.length;
      if (length > on.limits.body_bytes_max) {
        throw problem("invalid", `the body has more than ${on.limits.body_bytes_max} bytes`);
      }
      pieces.push(piece);
    }
    return Buffer.concat(pieces, length);
  } catch (error) {
    if (!response.ok) return new Uint8Array(0);
    if (error instanceof RunnerError) throw error;
    throw problem("transient", reasonOf(error, watch), error);
  }
}

/** What happened to the connection, by code. Messages of libraries are left out: some quote header values. */
function reasonOf(error: unknown, watch: Watch): string {
  if (watch.passed !== undefined) return watch.passed;
  if (watch.signal.aborted) return "given up by the caller";
  const cause = error instanceof Error ? error.cause : undefined;
  return `the connection failed (${errorCode(cause) || errorCode(error) || "no code"})`;
}

function failure(
  request: BoundedRequest,
  how: { kind: "transient" | "invalid" | "uncertain"; what: string; cause?: unknown },
): RunnerError {
  const where = `${request.method} ${request.url.origin}${request.url.pathname}`;
  // The cause is a code by now: the library's error may hold the request and with it the credential.
  return new RunnerError({ kind: how.kind, message: `${where}: ${how.what}` });
}
