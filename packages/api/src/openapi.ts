import type { Api } from "./routes/api.ts";

/** The OpenAPI 3.1 document of the routes that are there. */
export function openApiDocument(api: Api, version: string) {
  return api.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Millrace",
      version,
      description:
        "Reads builds, live and past. Lists go on by `nextCursor`; errors are problems (RFC 9457) whose `code` is stable.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: "/api/v1" }],
  });
}
