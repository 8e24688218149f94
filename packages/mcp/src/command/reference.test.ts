import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { allTools } from "../tools/all-tools.ts";
import type { ToolContext } from "../tools/context.ts";
import { clientConfigs } from "./client-config.ts";
import { reference } from "./reference.ts";

test("the documentation page holds the reference that the schemas give", () => {
  const page = readFileSync(path.resolve(import.meta.dirname, "../../../../docs/mcp.md"), "utf8");
  // Describing tools touches nothing of the context.
  expect(page).toContain(reference(allTools({} as ToolContext)));
});

test("configurations are ready to paste: JSON that parses, words that a shell keeps together", () => {
  const text = clientConfigs({ command: "/opt/my tools/millrace", args: ["mcp"] });
  expect(text).toContain("claude mcp add bazel -- '/opt/my tools/millrace' mcp");
  for (const block of text.split("\n\n").filter((one) => one.includes("\n{"))) {
    expect(() => JSON.parse(block.slice(block.indexOf("\n{")))).not.toThrow();
  }
});
