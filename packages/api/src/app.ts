import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Metrics } from "@millrace/base/metrics";
import { Hono, type MiddlewareHandler } from "hono";
import { compress } from "hono/compress";
import { routePath } from "hono/route";
import { openApiDocument } from "./openapi.ts";
import { ping } from "./queries/projects.ts";
import type { ApiEnv, ApiParts } from "./routes/api.ts";
import { apiRoutes } from "./routes/routes.ts";
import type { ViewerOf } from "./viewer.ts";
import { problem, problemOf } from "./web/problem.ts";
import { securityHeaders } from "./web/security-headers.ts";
import type { UiFiles } from "./web/ui-files.ts";

/** What the web server is made of. */
export interface AppParts extends ApiParts {
  readonly viewerOf: ViewerOf;
  /** Undefined when no dashboard is served. */
  readonly ui: UiFiles | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Dashboard, API and health, as one request handler. */
export function createApp(parts: AppParts): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.use(securityHeaders());
  app.use(measured(parts));
  addHealth(app, parts);
  const api = apiRoutes(parts);
  const document = openApiDocument(api, parts.server.version);
  app.use("/api/*", compress(), async (context, next) => {
    const viewer = await parts.viewerOf(context.req.raw);
    if (viewer instanceof Response) return viewer;
    context.set("viewer", viewer);
    await next();
    return undefined;
  });
  app.get("/api/v1/openapi.json", (context) => context.json(document));
  app.route("/api/v1", api);
  app.all("/api/*", () => problem({ status: 404, code: "no-such-route", detail: "There is no such route." }));
  app.get("*", async (context) => {
    const answer = await parts.ui?.answer({
      path: context.req.path,
      header: (name) => context.req.header(name),
    });
    return answer ?? context.text(parts.ui === undefined ? noUi : "Not found.", 404);
  });
  app.onError((error, context) =>
    problemOf(error, () => {
      parts.log.warn("a request failed", {
        method: context.req.method,
        path: context.req.path,
        error: errorText(error),
      });
    }),
  );
  return app;
}

const noUi = "No dashboard is served here: build it with `pnpm --filter @millrace/ui build`, or use /api/v1.";

/** Liveness does not depend on the database: restarting this process would not bring it back. */
function addHealth(app: Hono<ApiEnv>, parts: AppParts): void {
  app.get("/healthz", (context) => context.text("ok"));
  app.get("/readyz", async () => {
    await ping(parts.orm);
    return new Response("ready");
  });
  const viewers = parts.metrics.gauge("millrace_api_live_viewers", "Open live streams");
  app.get("/metrics", async (context) => {
    viewers.set(parts.live.viewers);
    return context.text(await parts.metrics.text(), 200, {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
    });
  });
}

/** Seconds until an answer begins; live streams and logs go on after that. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.3, 1, 3, 10];

function measured(parts: AppParts): MiddlewareHandler {
  const seconds = parts.metrics.histogram(
    "millrace_api_request_seconds",
    "Time until an answer begins",
    durationBuckets,
    ["route", "status"],
  );
  return async (context, next) => {
    const began = parts.clock.monotonic();
    await next();
    const route = routePath(context, -1);
    seconds.observe({ route, status: String(context.res.status) }, (parts.clock.monotonic() - began) / 1000);
  };
}
