import { z } from "zod";
import type { RunnerWorld } from "../../runner.ts";
import type { RunnerCall } from "../../runner-error.ts";
import { neededSecret } from "../needed-secret.ts";
import type { HttpAnswer, HttpService } from "./http-service.ts";
import { fillJson, fillPath, fillText, jsonTemplate, type TemplateValues, template } from "./template.ts";

/** A request that configuration describes. */
export const requestTemplate = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  /** Below the base URL; values are escaped. May have a query. */
  path: template.refine((text) => !text.startsWith("/") && !text.includes("#"), {
    message: "a path stands below the base URL: it has no slash in front and no fragment",
  }),
  headers: z.record(z.string(), template).default({}),
  /** Sent as JSON. */
  body: jsonTemplate.optional(),
});
export type RequestTemplate = z.infer<typeof requestTemplate>;

/** Sends the request with its templates filled. */
export function askTemplate(
  service: HttpService,
  request: RequestTemplate,
  how: { call: RunnerCall; values: TemplateValues; accept?: readonly number[]; signal: AbortSignal },
): Promise<HttpAnswer> {
  const { values, ...rest } = how;
  const headers = Object.entries(request.headers).map(([name, text]) => [name, fillText(text, values)]);
  return service.ask({
    ...rest,
    method: request.method,
    path: fillPath(request.path, values),
    headers: Object.fromEntries(headers),
    ...(request.body === undefined ? {} : { json: fillJson(request.body, values) }),
  });
}

/** Headers of every request with their credentials, and what of them must never be shown. */
export function filledHeaders(
  templates: Readonly<Record<string, string>>,
  world: Pick<RunnerWorld, "secret">,
): { headers: Record<string, string>; secrets: string[] } {
  const headers: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, text] of Object.entries(templates)) {
    headers[name] = text.replace(/\{secret:([A-Za-z0-9_.-]+)\}/g, (_, secret: string) => {
      const value = neededSecret(world, secret);
      secrets.push(value);
      return value;
    });
  }
  return { headers, secrets };
}
