import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { z } from "zod";
import type { Encoded, ResultEncoding } from "../answer/encode.ts";
import type { Redactor } from "../redact/redactor.ts";
import type { Runner } from "../run/runner.ts";
import type { ServerBuilds } from "../server-link/server-builds.ts";
import type { Store } from "../store/store.ts";

/** What the tools of one server share. */
export interface ToolContext {
  readonly store: Store;
  readonly runner: Runner;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly log: Log;
  readonly encoding: ResultEncoding;
  /** Builds of the Millrace server, if there is one. */
  readonly server: ServerBuilds | undefined;
}

/** One call: how to report progress, and whether the caller still waits. */
export interface Call {
  readonly signal: AbortSignal;
  /** Undefined when the client asked for no progress. */
  readonly reportProgress: ((message: string) => void) | undefined;
}

/** A tool as clients see it. Errors thrown by `call` become answers with `isError`. */
export interface Tool<S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: S;
  readonly isReadOnly: boolean;
  readonly canBeTask?: boolean;
  call(args: z.infer<S>, call: Call): Promise<Encoded>;
}

/** Keeps the type of a tool's arguments while tools of different arguments share a list. */
export function defineTool<S extends z.ZodObject>(tool: Tool<S>): Tool {
  return tool as unknown as Tool;
}
