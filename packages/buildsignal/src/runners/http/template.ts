import { z } from "zod";
import type { TriggerRequest } from "../../runner.ts";
import { RunnerError } from "../../runner-error.ts";
import { lookUpKey } from "../look-up-key.ts";

/** Values by the names that templates know. */
export type TemplateValues = Readonly<Record<string, string>>;

const names = new Set([
  "head_uri",
  "head_commit",
  "base_uri",
  "base_commit",
  "queue",
  "project",
  "key",
  "metadata",
  "build_id",
  "invocation_id",
]);
const placeholder = /\{([A-Za-z][A-Za-z0-9_.:-]*)\}/g;

function isKnown(name: string): boolean {
  return names.has(name) || name.startsWith("metadata.");
}

/** Text with `{name}`s; a name that nobody knows is refused when the configuration is read. */
export const template = z
  .string()
  .refine((text) => [...text.matchAll(placeholder)].every(([, name]) => isKnown(name ?? "")), {
    message: `a template knows {${[...names].join("}, {")}} and {metadata.NAME}`,
  });

/** A header's value, which may name credentials: `Bearer {secret:ci-token}`. It knows no other names. */
export const headerTemplate = z
  .string()
  .refine((text) => [...text.matchAll(placeholder)].every(([, name = ""]) => secretPlaceholder.test(name)), {
    message: "a header of all requests knows {secret:NAME} and no other name",
  });
const secretPlaceholder = /^secret:[A-Za-z0-9_.-]{1,100}$/;

/** JSON whose strings are templates. */
export const jsonTemplate: z.ZodType<JsonTemplate> = z.lazy(() =>
  z.union([
    template,
    z.number(),
    z.boolean(),
    z.null(),
    z.array(jsonTemplate),
    z.record(z.string(), jsonTemplate),
  ]),
);
export type JsonTemplate =
  | string
  | number
  | boolean
  | null
  | readonly JsonTemplate[]
  | { readonly [name: string]: JsonTemplate };

/** What templates of a trigger may use. `{metadata}` is the whole as JSON. */
export function triggerValues(request: TriggerRequest): TemplateValues {
  const single = Object.entries(request.metadata).map(([name, value]) => [`metadata.${name}`, value]);
  return {
    head_uri: request.headUri,
    head_commit: commitOf(request.headUri),
    base_uri: request.baseUri,
    base_commit: commitOf(request.baseUri),
    queue: request.queue,
    project: request.project,
    key: lookUpKey(request),
    metadata: JSON.stringify(request.metadata),
    ...Object.fromEntries(single),
  };
}

/** The commit at the end of a URI: its last run of 7 to 64 hexadecimal digits behind `/`, `@`, `#`, `=` or `:`; else all. */
export function commitOf(uri: string): string {
  return /(?:^|[/@#=:])([0-9a-f]{7,64})$/i.exec(uri)?.[1] ?? uri;
}

/** Plain text: a message, a branch, a value of JSON. */
export function fillText(text: string, values: TemplateValues): string {
  return text.replace(placeholder, (_, name: string) => values[name] ?? "");
}

/** Part of a URL: each value is escaped, and none can climb out of its place. */
export function fillPath(text: string, values: TemplateValues): string {
  return text.replace(placeholder, (_, name: string) => pathSegment(values[name] ?? ""));
}

/** JSON: strings are filled, all else stays. Values cannot break out of their string. */
export function fillJson(json: JsonTemplate, values: TemplateValues): JsonTemplate {
  if (typeof json === "string") return fillText(json, values);
  if (Array.isArray(json)) return json.map((item: JsonTemplate) => fillJson(item, values));
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, fillJson(value, values)]));
}

/** `value` as one segment of a path. A URL drops `.` and `..` even when escaped, so they are refused. */
export function pathSegment(value: string): string {
  if (value === "." || value === "..") {
    throw new RunnerError({ kind: "invalid", message: `${JSON.stringify(value)} cannot stand in a URL` });
  }
  return encodeURIComponent(value);
}
