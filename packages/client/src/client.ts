import createFetchClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./gen/api.ts";

type Schemas = components["schemas"];
export type Build = Schemas["Build"];
export type Invocation = Schemas["Invocation"];
export type Target = Schemas["Target"];
export type Test = Schemas["Test"];
export type TestResult = Schemas["TestResult"];
export type StoredEvent = Schemas["Event"];
export type Details = Schemas["Details"];
export type Metrics = NonNullable<Schemas["Metrics"]>;
export type Action = Schemas["Action"];
export type ActionCount = Schemas["ActionCount"];
export type LiveState = Schemas["LiveState"];
export type LiveHeartbeat = Schemas["LiveHeartbeat"];
export type SignalQueue = Schemas["SignalQueue"];
export type SignalRequest = Schemas["SignalRequest"];
export type SignalHistory = Schemas["SignalRequestHistory"];
export type SignalLetter = Schemas["SignalDeadLetter"];
export type BuildStatus = Build["status"];
export type TargetStatus = Target["status"];

/** Where the API is and how to reach it. */
export interface ClientSettings {
  /** `https://host:port`; empty in a browser for the page's own origin. */
  readonly origin: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof globalThis.fetch;
}

/** One typed function per method; paths and parameters are those of the OpenAPI document. */
export type MillraceClient = Client<paths>;

export function createClient(settings: ClientSettings): MillraceClient {
  return createFetchClient<paths>({
    baseUrl: `${settings.origin}/api/v1`,
    ...(settings.headers === undefined ? {} : { headers: settings.headers }),
    ...(settings.fetch === undefined ? {} : { fetch: settings.fetch }),
  });
}

/** The API said no. `code` is stable, `message` says what to do. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(what: { status: number; code: string; detail: string }) {
    super(what.detail);
    this.name = "ApiProblem";
    this.status = what.status;
    this.code = what.code;
  }
}

/** The data of an answer; fails with an `ApiProblem` when it is none. */
export async function dataOf<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok && data !== undefined) return data;
  throw problemFrom(error, response.status);
}

/** The problem that a body states, or one that says what the status is. */
export function problemFrom(body: unknown, status: number): ApiProblem {
  if (typeof body === "object" && body !== null && "code" in body && "detail" in body) {
    return new ApiProblem({ status, code: String(body.code), detail: String(body.detail) });
  }
  return new ApiProblem({ status, code: "unexpected", detail: `The server answered with status ${status}.` });
}

/** Path of an invocation's routes, below the origin. */
export function invocationPath(name: { project: string; invocationId: string }): string {
  return `/api/v1/projects/${encodeURIComponent(name.project)}/invocations/${encodeURIComponent(name.invocationId)}`;
}
