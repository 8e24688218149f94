import { createWriteStream, renameSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Clock, delay } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import {
  ApiProblem,
  type Build,
  type ClientSettings,
  createClient,
  dataOf,
  type Invocation,
  invocationPath,
  type LiveState,
  type MillraceClient,
  problemFrom,
} from "@millrace/client/client";
import { followEvents } from "@millrace/client/live";
import { logPath } from "@millrace/client/log";
import { fileMode } from "../store/private-file.ts";

const answerMs = 30_000;

/** Where the server is, and the key that it asks for. */
export interface ServerAddress {
  /** `https://host:port`, without a path. */
  readonly origin: string;
  readonly apiKey: string | undefined;
}

/** A build by the names that the server knows it by. */
export interface BuildName {
  readonly project: string;
  readonly invocationId: string;
}

/** A part of what the server keeps, to be copied into a file. */
export interface Copying {
  /** Path below the origin. */
  readonly path: string;
  readonly file: string;
  readonly bytesMax: number;
}

/** What a list of builds is restricted to. */
export interface BuildsQuery {
  readonly project: string;
  readonly status: readonly Build["status"][] | undefined;
  readonly command: string | undefined;
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** The API of one Millrace server. Every failure says what was asked of whom and what to do. */
export class ServerApi {
  readonly origin: string;
  private readonly settings: ClientSettings;
  private readonly client: MillraceClient;

  constructor(address: ServerAddress, clock: Clock) {
    this.origin = address.origin;
    this.settings = {
      origin: address.origin,
      headers: address.apiKey === undefined ? {} : { "x-api-key": address.apiKey },
      fetch: (input, init) => fetchSoon(input, { ...init, clock }),
    };
    this.client = createClient(this.settings);
  }

  /** Projects that hold an invocation of this id; none when there is no such invocation. */
  async projectsOf(invocationId: string): Promise<readonly string[]> {
    const path = { invocationId };
    const found = await this.ask(() =>
      dataOf(this.client.GET("/invocations/{invocationId}", { params: { path } })),
    );
    return found?.projects ?? [];
  }

  /** The latest attempt, or undefined when there is none. */
  invocation(name: BuildName): Promise<Invocation | undefined> {
    return this.ask(() =>
      dataOf(
        this.client.GET("/projects/{project}/invocations/{invocationId}", { params: { path: { ...name } } }),
      ),
    );
  }

  async builds(query: BuildsQuery): Promise<{ builds: readonly Build[]; nextCursor: string | null }> {
    const { project, status, command, cursor, limit } = query;
    const restriction = {
      limit,
      ...(status === undefined ? {} : { status: [...status] }),
      ...(command === undefined ? {} : { command: [command] }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await this.ask(() =>
      dataOf(
        this.client.GET("/projects/{project}/builds", { params: { path: { project }, query: restriction } }),
      ),
    );
    if (page !== undefined) return page;
    throw new MillraceError({
      remedy: "reject",
      code: "mcp-server-project",
      message: `${this.origin} has no project ${project}, or does not show it to this key`,
    });
  }

  /** Copies what the server has of the build's events, as a file like that of `--build_event_binary_file`. */
  copyEvents(name: BuildName, at: { attempt: number; file: string; bytesMax: number }): Promise<string> {
    const path = `${invocationPath(name)}/bep?attempt=${at.attempt}`;
    return this.copy({ path, file: at.file, bytesMax: at.bytesMax });
  }

  /** Copies the end of the build's log, at most `bytesMax` bytes. */
  copyLog(
    name: BuildName,
    at: { attempt: number; logBytes: number; file: string; bytesMax: number },
  ): Promise<string> {
    const from = Math.max(0, at.logBytes - at.bytesMax);
    const path = logPath({ ...name, attempt: at.attempt, from });
    return this.copy({ path, file: at.file, bytesMax: at.bytesMax });
  }

  /** Writes a body to a file, nothing of it in memory. Returns what is missing, in words, or "". */
  private async copy(copying: Copying): Promise<string> {
    let missing = "";
    const bounded = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      let bytes = 0;
      for await (const piece of body) {
        if (bytes + piece.length > copying.bytesMax) {
          missing = `only its first ${bytes} bytes were taken from the server`;
          return;
        }
        bytes += piece.length;
        yield piece;
      }
    };
    await this.ask(async () => {
      const response = await this.fetch(copying.path);
      const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
      const temporary = `${copying.file}.tmp`;
      await pipeline(body, bounded, createWriteStream(temporary, { mode: fileMode }));
      renameSync(temporary, copying.file);
    });
    return missing;
  }

  private async fetch(path: string): Promise<Response> {
    const { fetch: send = fetch, headers = {} } = this.settings;
    const response = await send(this.origin + path, { headers: { ...headers } });
    if (response.ok) return response;
    throw problemFrom(await response.json().catch(() => undefined), response.status);
  }

  /** Resolves when the build has ended, or when `signal` says so. */
  async untilEnded(name: BuildName, at: { signal: AbortSignal; clock: Clock }): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    at.signal.addEventListener("abort", stop);
    try {
      await this.ask(() =>
        followEvents(this.settings, {
          path: `${invocationPath(name)}/live`,
          signal: over.signal,
          pause: (ms, signal) => pause(at.clock, { ms, signal }),
          onEvent: ({ name: event, data }) => {
            if (event === "state" && (data as LiveState).build.status !== "running") stop();
          },
        }),
      );
    } finally {
      at.signal.removeEventListener("abort", stop);
    }
  }

  /** Undefined for what the server does not have; other failures in words. */
  private async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await question();
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) return undefined;
      throw serverError(this.origin, error);
    }
  }
}

/** A fetch whose answer begins within half a minute; the body may take its time. */
async function fetchSoon(
  input: Parameters<typeof fetch>[0],
  init: RequestInit & { readonly clock: Clock },
): Promise<Response> {
  const { clock, ...rest } = init;
  const late = new AbortController();
  const cancel = clock.after(answerMs, () => late.abort(new Error(`no answer within ${answerMs / 1000} s`)));
  const signals = [late.signal, ...(rest.signal ? [rest.signal] : [])];
  if (input instanceof Request) signals.push(input.signal);
  try {
    // Followed elsewhere, a redirect would take the key along.
    return await fetch(input, { ...rest, redirect: "error", signal: AbortSignal.any(signals) });
  } finally {
    cancel();
  }
}

function serverError(origin: string, error: unknown): MillraceError {
  if (!(error instanceof ApiProblem)) {
    return new MillraceError({
      remedy: "retry",
      code: "mcp-server-away",
      message: `the Millrace server ${origin} does not answer: ${whyOf(error)}`,
    });
  }
  const advice =
    error.status === 401 || error.status === 403
      ? "; give a key that may read in MILLRACE_API_KEY or server_api_key"
      : "";
  return new MillraceError({
    remedy: error.status >= 500 ? "retry" : "reject",
    code: "mcp-server-refused",
    message: `the Millrace server ${origin} answers: ${error.message}${advice}`,
  });
}

/** `fetch failed` says nothing; its cause does. */
function whyOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : errorText(error);
}

async function pause(clock: Clock, at: { ms: number; signal: AbortSignal }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  at.signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([delay(clock, at.ms), promise]);
}
