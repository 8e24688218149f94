/** What the caller can do about a failure of the world. */
export type Remedy = "retry" | "reject" | "crash";

/**
 * The one error class for failures of the world (network, disk, database, bad input that cannot be a value).
 * Library errors are classified into it once per edge, by code and never by message text.
 */
export class MillraceError extends Error {
  readonly remedy: Remedy;
  /** A stable, greppable word such as `nats-unavailable`; shown to users and used in metrics. */
  readonly code: string;

  constructor(what: { remedy: Remedy; code: string; message: string; cause?: unknown }) {
    super(what.message, what.cause === undefined ? undefined : { cause: what.cause });
    this.name = "MillraceError";
    this.remedy = what.remedy;
    this.code = what.code;
  }
}

/** The `code` of a library's error (SQLSTATE, errno, gRPC or NATS code) as a string, or "" when it has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  const code = (error as { code: unknown }).code;
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}

/** One line for a log or a user: the message and its causes, outermost first. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (because: ${errorText(error.cause)})`;
  return `${error.message}${cause}`;
}

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // A Unix socket whose server is gone.
]);

/** True when the code is one of the operating system's network errors. Ask this before reading an SQLSTATE:
 *  `EPIPE` has the shape of one. */
export function isNetworkCode(code: string): boolean {
  return networkCodes.has(code);
}
