import type { Clock } from "@millrace/base/clock";
import type { z } from "zod";
import { classifyHttpStatus, type RunnerCall, RunnerError, type RunnerFailure } from "../../runner-error.ts";
import { type BoundedAnswer, boundedFetch } from "./bounded-fetch.ts";
import type { HttpLimits } from "./limits.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface HttpServiceSettings {
  /** For messages, such as `Buildkite`. */
  readonly name: string;
  /** A `serviceUrl`. Paths of calls begin below it. */
  readonly baseUrl: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** What must never be shown, in every form in which it is sent. */
  readonly secrets: readonly string[];
  readonly limits: HttpLimits;
  readonly clock: Clock;
  /** What an answer other than 2xx means; `classifyHttpStatus` unless the service has ways of its own. */
  readonly classify?: (answer: HttpHead, call: RunnerCall) => RunnerFailure;
  /** How long the service asks to wait; `Retry-After` unless it has headers of its own. */
  readonly waitMs?: (headers: Headers, nowMs: number) => number | undefined;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface HttpCall {
  readonly call: RunnerCall;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, escaped, without a slash in front; may have a query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Statuses other than 2xx that are answers and no failures. */
  readonly accept?: readonly number[];
  readonly signal: AbortSignal;
}

/** An answer that is none of the failures. */
export interface HttpAnswer extends HttpHead {
  /** The body, JSON of the given shape; fails as `transient`, for a trigger as `uncertain`: it was answered with 2xx. */
  read<T>(shape: z.ZodType<T>): T;
  /** The service asked to be left alone for so long. */
  readonly waitMs: number | undefined;
}

const excerptLengthMax = 200;

/** A build service that is spoken to over HTTP. Knows the credential; no message of it does. */
export class HttpService {
  private readonly settings: HttpServiceSettings;
  private readonly base: string;

  /** Fails with a `RunnerError` of kind `invalid` when a header cannot be sent. */
  constructor(settings: HttpServiceSettings) {
    this.settings = settings;
    this.base = settings.baseUrl.endsWith("/") ? settings.baseUrl : `${settings.baseUrl}/`;
    this.headersOf({});
  }

  /** The answer, when its status is 2xx or accepted; everything else is a `RunnerError`. */
  async ask(call: HttpCall): Promise<HttpAnswer> {
    const { settings } = this;
    const url = new URL(this.base + call.path);
    const answer = await boundedFetch(
      {
        call: call.call,
        method: call.method,
        url,
        headers: this.headersOf(call),
        body: bodyOf(call),
        signal: call.signal,
      },
      settings,
    );
    const waitMs = (settings.waitMs ?? retryAfterMs)(answer.headers, settings.clock.now());
    const isAnswer =
      (answer.status >= 200 && answer.status < 300) || call.accept?.includes(answer.status) === true;
    const where = `${settings.name}: ${call.method} ${url.pathname}`;
    if (!isAnswer) {
      throw new RunnerError({
        kind: (settings.classify ?? classifyOf)(answer, call.call),
        message: `${where} was answered with ${answer.status}${this.excerptOf(answer)}`,
        ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
      });
    }
    return {
      status: answer.status,
      headers: answer.headers,
      waitMs,
      read: (shape) => read(answer, { shape, call: call.call, where }),
    };
  }

  private headersOf(call: Partial<HttpCall>): Headers {
    const headers = new Headers();
    const all = {
      accept: "application/json",
      "user-agent": "millrace",
      ...this.settings.headers,
      ...call.headers,
    };
    for (const [name, value] of Object.entries(all)) {
      try {
        headers.set(name, value);
      } catch {
        // The library's message quotes the value.
        throw new RunnerError({
          kind: "invalid",
          message: `${this.settings.name}: the header ${name} has a value that cannot be sent (a line break?)`,
        });
      }
    }
    if (call.json !== undefined) headers.set("content-type", "application/json");
    if (call.form !== undefined) headers.set("content-type", "application/x-www-form-urlencoded");
    return headers;
  }

  /** What the service says about its refusal, shortened: the `message` of JSON, or text; never HTML or a secret. */
  private excerptOf(answer: BoundedAnswer): string {
    const type = answer.headers.get("content-type") ?? "";
    if (answer.body.length === 0 || type.includes("html")) return "";
    const json = jsonOf(answer.body);
    const said = typeof json === "object" && json !== null && "message" in json ? json.message : undefined;
    let text = typeof said === "string" ? said : new TextDecoder().decode(answer.body);
    for (const secret of this.settings.secrets) {
      if (secret !== "") text = text.replaceAll(secret, "***");
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    const line = text.replace(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
    return line === "" ? "" : `: ${line.slice(0, excerptLengthMax)}`;
  }
}

function classifyOf(answer: HttpHead, call: RunnerCall): RunnerFailure {
  return classifyHttpStatus(answer.status, call);
}

function bodyOf(call: HttpCall): string | undefined {
  if (call.form !== undefined) return new URLSearchParams(call.form).toString();
  return call.json === undefined ? undefined : JSON.stringify(call.json);
}

function read<T>(answer: BoundedAnswer, of: { shape: z.ZodType<T>; call: RunnerCall; where: string }): T {
  const parsed = of.shape.safeParse(jsonOf(answer.body));
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new RunnerError({
    kind: of.call === "trigger" ? "uncertain" : "transient",
    message: `${of.where} was answered with ${answer.status} and a body of another shape${at === "" ? "" : ` (at ${at})`}`,
  });
}

/** The body as JSON, undefined when it is none: an answer without one is judged by its shape. */
function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
