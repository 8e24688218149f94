import { bazelRules } from "./bazel-rules.ts";
import { isNoise, plainLine } from "./noise.ts";
import { compilerRules, type Finding, type Lines, type Rule } from "./rules.ts";
import { looseTestRules, testRules } from "./test-rules.ts";

/** What may be found where: Bazel's own output, an action's output, a test's log. */
export type TextKind = "bazel" | "action" | "test";

const rulesFor: Readonly<Record<TextKind, readonly Rule[]>> = {
  bazel: [...bazelRules, ...compilerRules, ...testRules],
  action: [...compilerRules, ...bazelRules, ...testRules],
  test: [...testRules, ...bazelRules, ...compilerRules],
};

// A line without any of these is no diagnostic; most lines of a large log end here.
const candidate =
  /rror|ERROR|FATAL|WARN|arning|FAIL|Failure|xception|panic|undefined|duplicate|multiple def|cannot find|Traceback|\.go:|\.proto:|^E {3}|×|^x |Segm|Abort|Assert|Check failure|^F\d{4}|Unknown startup|: Failure$/;

const keptFirst = 100;
const keptLast = 100;
const lineCharactersMax = 4096;

/**
 * Finds diagnostics in a text that may come in pieces of any size. Keeps the first hundred and the last hundred: the cause
 * tends to be at either end. Findings come in the order of the text.
 */
export class TextScanner {
  private readonly rules: readonly Rule[];
  private readonly first: Finding[] = [];
  private readonly last: Finding[] = [];
  private window: string[] = [];
  private partial = "";
  found = 0;

  constructor(kind: TextKind) {
    this.rules = rulesFor[kind];
  }

  push(text: string): void {
    const lines = (this.partial + text).split("\n");
    this.partial = lines.pop() ?? "";
    if (this.partial.length > lineCharactersMax * 4) this.partial = this.partial.slice(0, lineCharactersMax);
    for (const line of lines) this.window.push(line);
    this.scan(lookAhead);
  }

  findings(): readonly Finding[] {
    if (this.partial !== "") this.window.push(this.partial);
    this.partial = "";
    this.scan(0);
    return [...this.first, ...this.last];
  }

  /** Looks at all lines but the last `reserve`, which a rule may still want to look ahead into. */
  private scan(reserve: number): void {
    const end = this.window.length - reserve;
    if (end <= 0) return;
    for (let index = 0; index < end; index += 1) {
      if (!candidate.test(this.window[index] ?? "")) continue;
      const lines: Lines = (offset) =>
        plainLine((this.window[index + offset] ?? "").slice(0, lineCharactersMax));
      if (isNoise(lines(0))) continue;
      const finding = firstMatch(this.rules, lines);
      if (finding !== undefined) this.keep(finding);
    }
    this.window = this.window.slice(end);
  }

  private keep(finding: Finding): void {
    this.found += 1;
    if (this.first.length < keptFirst) this.first.push(finding);
    else {
      this.last.push(finding);
      if (this.last.length > keptLast * 2) this.last.splice(0, keptLast);
    }
  }
}

// No rule looks further ahead.
const lookAhead = 210;

function firstMatch(rules: readonly Rule[], lines: Lines): Finding | undefined {
  for (const rule of rules) {
    const finding = rule(lines);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

/** All findings of a text at hand. */
export function scanText(text: string, kind: TextKind): readonly Finding[] {
  const scanner = new TextScanner(kind);
  scanner.push(text);
  const exact = scanner.findings().filter((finding) => finding.severity === "error");
  if (exact.length > 0 || kind !== "test") return exact;
  return text
    .split("\n")
    .map((line) => firstMatch(looseTestRules, () => plainLine(line)))
    .filter((finding) => finding !== undefined);
}

/** The last lines of a text that are not noise, for texts in which nothing was recognised. */
export function tellingLines(text: string, count: number): string[] {
  const lines = text
    .split("\n")
    .map((line) => plainLine(line.slice(0, lineCharactersMax)).trimEnd())
    .filter((line) => !isNoise(line));
  return lines.slice(-count);
}
