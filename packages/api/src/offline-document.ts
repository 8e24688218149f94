import { openApiDocument } from "./openapi.ts";
import type { ApiParts } from "./routes/api.ts";
import { apiRoutes } from "./routes/routes.ts";
import { version } from "./version.ts";

/** The OpenAPI document without a server: routes are described here and never asked, so they need no parts. */
export function offlineDocument() {
  return openApiDocument(apiRoutes({} as ApiParts), version);
}
