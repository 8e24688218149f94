import { z } from "zod";
import { configSchema } from "../serve/config-file.ts";
import type { Tool } from "../tools/context.ts";

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

/** The reference part of `docs/mcp.md`, made from the schemas so that it cannot differ from them. */
export function reference(tools: readonly Tool[]): string {
  return [...tools.map(toolReference), "### Configuration file", configReference()].join("\n\n");
}

function toolReference(tool: Tool): string {
  const schema = z.toJSONSchema(tool.schema, { io: "input" }) as JsonSchema;
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, one]) =>
      `| \`${name}\` | ${typeText(one)} | ${required.has(name) ? "yes" : ""} | ${cell(one.description)} |`,
  );
  const head = ["| argument | type | required | |", "|---|---|---|---|"];
  return [`### ${tool.name}`, tool.description, [...head, ...rows].join("\n")].join("\n\n");
}

function configReference(): string {
  const schema = z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema;
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, one]) =>
      `| \`${name}\` | ${one.default === undefined ? "" : `\`${JSON.stringify(one.default)}\``} | ${cell(one.description)} |`,
  );
  return ["| key | default | |", "|---|---|---|", ...rows].join("\n");
}

function typeText(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${String(one)}\``).join(" ");
  if (schema.type === "array") return `${schema.items?.type ?? "any"}[]`;
  return schema.type ?? "any";
}

function cell(text: string | undefined): string {
  return (text ?? "").replaceAll("|", "\\|");
}
