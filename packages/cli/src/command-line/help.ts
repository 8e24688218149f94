import { type Flag, type Flags, flagName } from "./flag.ts";
import type { Operands } from "./parse-arguments.ts";

const columns = 96;
/** Longer flags have their description on the next line. */
const flagColumnMax = 28;

/** The page that `millrace COMMAND --help` shows. */
export function commandHelp(spec: {
  readonly name: string;
  readonly about: readonly string[];
  readonly operands: Operands;
  readonly flags: Flags;
  readonly examples: readonly { readonly line: string; readonly does: string }[];
}): string {
  const operands = spec.operands.shown === "" ? "" : ` ${spec.operands.shown}`;
  const flags = Object.entries(spec.flags).map(([key, flag]) => ({
    left: `  ${flag.short === undefined ? "" : `-${flag.short}, `}--${flagName(key)}${placeholderOf(flag)}`,
    right: `${flag.description}${notesOf(flag)}`,
  }));
  flags.push({ left: "  -h, --help", right: "Shows this." });
  const examples = spec.examples.map(({ line, does }) => `  ${line}\n      ${does}`);
  return [
    `Usage: millrace ${spec.name}${operands} [flags]`,
    ...spec.about.map((paragraph) => wrap(paragraph, "").join("\n")),
    `Flags:\n${twoColumns(flags)}`,
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.join("\n")}`]),
  ].join("\n\n");
}

/** The page that `millrace --help` shows. */
export function overviewHelp(
  commands: readonly { readonly name: string; readonly summary: string }[],
): string {
  const rows = commands.map(({ name, summary }) => ({ left: `  ${name}`, right: summary }));
  return [
    "Usage: millrace COMMAND [flags]",
    wrap(
      "Millrace is a Build Event Service for Bazel: it keeps every event of every build, shows builds while they " +
        "run, and acknowledges an event only when it is on disk.",
      "",
    ).join("\n"),
    `Commands:\n${twoColumns(rows)}`,
    "More about one of them:  millrace COMMAND --help",
  ].join("\n\n");
}

function placeholderOf(flag: Flag<unknown>): string {
  return flag.placeholder === undefined ? "" : ` ${flag.placeholder}`;
}

function notesOf(flag: Flag<unknown>): string {
  const isTold = flag.fallback !== undefined && flag.fallback !== "" && flag.placeholder !== undefined;
  const notes = [
    ...(isTold && !flag.secret ? [`default ${String(flag.fallback)}`] : []),
    ...(flag.environmentName === undefined ? [] : [`or ${flag.environmentName}`]),
  ];
  return notes.length === 0 ? "" : ` [${notes.join("; ")}]`;
}

function twoColumns(rows: readonly { left: string; right: string }[]): string {
  const width = Math.min(flagColumnMax, Math.max(...rows.map(({ left }) => left.length)));
  const indent = " ".repeat(width + 2);
  const lines = rows.flatMap(({ left, right }) => {
    const wrapped = wrap(right, indent);
    if (left.length > width) return [left, ...wrapped];
    return [`${left.padEnd(width + 2)}${(wrapped[0] ?? "").trimStart()}`, ...wrapped.slice(1)];
  });
  return lines.join("\n");
}

/** Words of `text` in lines that start with `indent`. */
function wrap(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    const isFirst = line === indent;
    if (!isFirst && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = indent + word;
    } else line += isFirst ? word : ` ${word}`;
  }
  return [...lines, line];
}
