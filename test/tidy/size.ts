import { parseSync } from "oxc-parser";
import { isTestFile, type SourceFile } from "./source-files.ts";

/** Bounds of style.md. */
export const fileLinesMax = 400;
const functionLinesMax = 70;
const parametersMax = 2;

/** Files and functions that are too long, and functions with too many positional parameters. */
export function oversized(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const lines = file.text.split("\n").length;
    const problems =
      lines > fileLinesMax
        ? [`${file.path} has ${lines} lines: look for the noun hidden in it and give that a file`]
        : [];
    if (isTestFile(file.path) || !/\.tsx?$/.test(file.path)) return problems;
    return [...problems, ...functionProblems(file)];
  });
}

/** Median and share of files at or below 250 lines, for the rule about the whole. */
export function fileLengths(files: readonly SourceFile[]): { median: number; shareUnder250: number } {
  const lengths = files.map((file) => file.text.split("\n").length).sort((a, b) => a - b);
  return {
    median: lengths[Math.floor(lengths.length / 2)] ?? 0,
    shareUnder250: lengths.filter((length) => length <= 250).length / Math.max(1, lengths.length),
  };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly params?: readonly unknown[];
  readonly [key: string]: unknown;
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

function functionProblems(file: SourceFile): string[] {
  const { program } = parseSync(file.path, file.text);
  const problems: string[] = [];
  const visit = (value: unknown, name: string): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, name);
      return;
    }
    if (!isNode(value)) return;
    if (functionTypes.has(value.type)) problems.push(...checkFunction(file, value, name));
    const inner = nameOf(value) ?? name;
    for (const [key, child] of Object.entries(value)) {
      if (key !== "type" && key !== "start" && key !== "end") visit(child, inner);
    }
  };
  visit(program, "(top)");
  return problems;
}

function checkFunction(file: SourceFile, node: Node, name: string): string[] {
  const lines = file.text.slice(node.start, node.end).split("\n").length;
  const shown = nameOf(node) ?? name;
  const problems: string[] = [];
  if (lines > functionLinesMax) {
    problems.push(`${file.path}: ${shown} has ${lines} lines: split it where a step has a name`);
  }
  const isDeclared = node.type === "FunctionDeclaration";
  // Callbacks take what their caller hands them; one more than two is allowed nowhere else.
  if (isDeclared && (node.params?.length ?? 0) > parametersMax + 1) {
    problems.push(`${file.path}: ${shown} has ${node.params?.length} parameters: make them one object`);
  }
  return problems;
}

function nameOf(node: Node): string | undefined {
  for (const key of ["id", "key"]) {
    const named = node[key];
    if (isNode(named) && typeof named["name"] === "string") return named["name"];
  }
  return undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
