import { z } from "@hono/zod-openapi";
import { MillraceError } from "@millrace/base/errors";

/** Statuses that the API answers with a problem. */
export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 416 | 500 | 503;

/** What went wrong, as RFC 9457 writes it. `code` is stable; `detail` says what to do. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi("Problem");

export type Problem = z.infer<typeof problemSchema>;

export interface ProblemSpec {
  readonly status: ProblemStatus;
  readonly code: string;
  readonly detail: string;
  readonly errors?: Problem["errors"];
  readonly headers?: Readonly<Record<string, string>>;
}

const titles: Readonly<Record<ProblemStatus, string>> = {
  400: "The request is not valid",
  401: "Sign in first",
  403: "Not allowed",
  404: "Not found",
  405: "This method is not allowed here",
  409: "Conflicts with what is there",
  410: "No longer kept",
  413: "Too large",
  416: "The range is not satisfiable",
  500: "A fault in Millrace",
  503: "Not available at the moment",
};

/** What retention has deleted. */
const expiredCode = "segment-expired";

/** Seconds after which a client of a 503 should ask again. */
const retryAfterSeconds = 2;

export function problem(spec: ProblemSpec): Response {
  const body: Problem = {
    type: `urn:millrace:problem:${spec.code}`,
    title: titles[spec.status],
    status: spec.status,
    code: spec.code,
    detail: spec.detail,
    ...(spec.errors === undefined ? {} : { errors: spec.errors }),
  };
  return new Response(JSON.stringify(body), {
    status: spec.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...spec.headers },
  });
}

/** The same answer for what does not exist and for what the viewer may not see. */
export function notFound(what: string): Response {
  return problem({ status: 404, code: "not-found", detail: `${what} is not here, or you may not see it.` });
}

export function badCursor(): Response {
  return problem({
    status: 400,
    code: "bad-cursor",
    detail: "The cursor is not one that this list gave out. Begin without one.",
  });
}

/** The hook of every route: what zod found wrong becomes one 400. */
export function invalidRequest(
  result: { success: true } | { success: false; target: string; error: z.core.$ZodError },
): Response | undefined {
  if (result.success) return undefined;
  const errors = result.error.issues.map((issue) => ({
    path: [result.target, ...issue.path.map(String)].join("."),
    message: issue.message,
  }));
  const first = errors[0];
  const detail = first === undefined ? "The request is not valid." : `${first.path}: ${first.message}`;
  return problem({ status: 400, code: "invalid-request", detail, errors });
}

/**
 * The answer for an error that a handler let through; `report` hears of what an operator or we must repair.
 * A broken invariant of ours ends the request only: this process writes nothing that it could spoil.
 */
export function problemOf(error: unknown, report: (error: unknown) => void): Response {
  if (error instanceof MillraceError) {
    if (error.remedy === "reject") {
      const status = error.code === expiredCode ? 410 : 400;
      return problem({ status, code: error.code, detail: error.message });
    }
    report(error);
    return problem({
      status: 503,
      code: error.code,
      detail: `${error.message}. Ask again in a moment.`,
      headers: { "retry-after": String(retryAfterSeconds) },
    });
  }
  report(error);
  return problem({
    status: 500,
    code: "internal",
    detail: "This is a fault in Millrace; its log has the cause.",
  });
}

/**
 * How a route documents its problems. The type leaves their content out: with it, a handler could not answer with a `Response`.
 */
export function problemResponses<S extends ProblemStatus>(
  ...statuses: S[]
): Record<S, { description: string }> {
  const content = { "application/problem+json": { schema: problemSchema } };
  const entries = statuses.map((status) => [status, { description: titles[status], content }]);
  return Object.fromEntries(entries) as Record<S, { description: string }>;
}
