import { OpenAPIHono } from "@hono/zod-openapi";
import type { Clock } from "@millrace/base/clock";
import type { LiveHub } from "../live/hub.ts";
import type { Orm } from "../queries/read.ts";
import type { SegmentSource } from "../read/segment-bytes.ts";
import type { SignalAccess } from "../signal-access.ts";
import type { Viewer } from "../viewer.ts";
import { invalidRequest } from "../web/problem.ts";

export interface ApiEnv {
  Variables: { viewer: Viewer };
}

/** The application under which the routes are; its middleware has set `viewer` on every request. */
export type Api = OpenAPIHono<ApiEnv>;

/** What routes work with. */
export interface ApiParts {
  readonly orm: Orm;
  readonly source: SegmentSource;
  readonly live: LiveHub;
  /** Relative times of queries are counted from its time. */
  readonly clock: Clock;
  readonly server: ServerFacts;
  /** The way to the build-signal controller; left out: there is none. */
  readonly signals?: SignalAccess;
}

/** What the dashboard tells newcomers. */
export interface ServerFacts {
  readonly version: string;
  /** What follows `--bes_backend=`. */
  readonly grpcUrl: string;
  /** Origin of the dashboard; empty = that of the request. */
  readonly httpUrl: string;
}

export function createApi(): Api {
  return new OpenAPIHono<ApiEnv>({ defaultHook: (result) => invalidRequest(result) });
}
