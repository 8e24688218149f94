import type { Category, Location, Severity } from "../store/record.ts";

/** What a rule found in a text, before it is tied to a target. */
export interface Finding {
  readonly severity: Severity;
  readonly category: Category;
  readonly message: string;
  readonly location?: Location;
  /** Follows from another failure; listed only after causes. */
  readonly isConsequence?: boolean;
}

/** Lines around the one at hand; `at` beyond the end gives "". */
export type Lines = (offset: number) => string;

/** Looks at a line (`lines(0)`) and those after it. */
export type Rule = (lines: Lines) => Finding | undefined;

function locate(path: string, line?: string, column?: string): Location {
  return {
    path,
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

function severityOf(word: string): Severity {
  if (/^warn/i.test(word)) return "warning";
  return /^(note|help|info)/i.test(word) ? "note" : "error";
}

/** GCC, Clang, javac, kotlinc, mypy, protoc plug-ins, swiftc: `path:line[:column]: [fatal ]error: message`. */
const gnu: Rule = (lines) => {
  const match =
    /^(?:e: )?(?:file:\/\/)?((?:[A-Za-z]:)?[^\s:()'"][^:()'"]*?\.[A-Za-z0-9+]+):(\d+)(?::(\d+))?:? (?:- )?(fatal error|error|warning)(?:\[[\w-]+\]|:)?:?\s+(.+)$/.exec(
      lines(0),
    );
  if (!match) return undefined;
  const [, path = "", line, column, word = "", message = ""] = match;
  const severity = severityOf(word.replace("fatal ", ""));
  return { severity, category: "compilation", message, location: locate(path, line, column) };
};

/** MSVC, tsc, C#: `path(line,column): error CODE: message`. */
const parenthesised: Rule = (lines) => {
  const match = /^(.+?\.\w+)\((\d+)(?:,(\d+))?\)\s*: (?:fatal )?(error|warning) (\w+: .+)$/.exec(lines(0));
  if (!match) return undefined;
  const [, path = "", line, column, word = "", message = ""] = match;
  return {
    severity: severityOf(word),
    category: "compilation",
    message,
    location: locate(path, line, column),
  };
};

/** tsc --pretty and ESLint-like: `path:line:column - error TS1234: message`. */
const tscPretty: Rule = (lines) => {
  const match = /^(.+?\.[cm]?[jt]sx?):(\d+):(\d+) - (error|warning) (.+)$/.exec(lines(0));
  if (!match) return undefined;
  const [, path = "", line, column, word = "", message = ""] = match;
  return {
    severity: severityOf(word),
    category: "compilation",
    message,
    location: locate(path, line, column),
  };
};

/** Go's compiler and vet, and protoc: `path.go:line:column: message`, without a word for the severity. */
const goOrProto: Rule = (lines) => {
  const match = /^((?:[A-Za-z]:)?[^\s:]+\.(?:go|proto)):(\d+)(?::(\d+))?: (.+)$/.exec(lines(0));
  if (!match) return undefined;
  const [, path = "", line, column, message = ""] = match;
  if (/^warning:/i.test(message)) return undefined;
  return {
    severity: "error",
    category: "compilation",
    message,
    location: locate(path, line, column),
  };
};

/** protoc without a column: `path.proto: message`; import errors look so. */
const protoImport: Rule = (lines) => {
  const match = /^([^\s:]+\.proto): (.+)$/.exec(lines(0));
  if (!match) return undefined;
  const message = match[2] ?? "";
  const isConsequence = /^Import ".*" was not found or had errors/.test(message);
  return {
    severity: "error",
    category: "compilation",
    message,
    location: { path: match[1] ?? "" },
    isConsequence,
  };
};

/** rustc: `error[E0382]: message`, the place in a following `--> path:line:column`. swc and miette draw boxes. */
const boxed: Rule = (lines) => {
  const match = /^\s*(error(?:\[\w+\])?|warning|x|×):? (.+)$/.exec(lines(0));
  if (!match) return undefined;
  for (let offset = 1; offset <= 6; offset += 1) {
    const place =
      /^\s*-->\s+(.+?):(\d+):(\d+)\s*$/.exec(lines(offset)) ??
      /[,╭]-\[\s*(.+?):(\d+):(\d+)\s*\]/.exec(lines(offset)) ??
      /╭─\[(.+?):(\d+):(\d+)\]/.exec(lines(offset));
    if (place) {
      const [, path = "", line, column] = place;
      const code = /\[(\w+)\]/.exec(match[1] ?? "")?.[1];
      const message = code === undefined ? (match[2] ?? "") : `${match[2]} [${code}]`;
      const severity = match[1] === "warning" ? "warning" : "error";
      return { severity, category: "compilation", message, location: locate(path, line, column) };
    }
  }
  return undefined;
};

/** Linkers: what is missing matters, not the driver's summary. */
const linker: Rule = (lines) => {
  const line = lines(0);
  const missing =
    /(?:^|[:)] )(undefined (?:reference to|symbol:?) .+|multiple definition of .+|cannot find -l\S+.*|duplicate symbol:? .+)$/.exec(
      line,
    ) ?? /^(?:\S*ld(?:\.\w+)?: (?:error: )?)(.+)$/.exec(line);
  if (missing) {
    const object = /^(?:\S*ld\S*: )?([^\s:(]+\.(?:o|cc?|cpp|cxx|a|lo|pic\.o)):/.exec(line)?.[1];
    return {
      severity: "error",
      category: "compilation",
      message: missing[1] ?? line,
      ...(object === undefined ? {} : { location: { path: object } }),
      isConsequence: /returned \d+ exit status/.test(line),
    };
  }
  if (/^(collect2|clang(\+\+)?|gcc|g\+\+): error: /.test(line)) {
    return {
      severity: "error",
      category: "compilation",
      message: line,
      isConsequence: /exit (status|code)/.test(line),
    };
  }
  return undefined;
};

/** Rules for compilers and linkers, the most exact first. */
export const compilerRules: readonly Rule[] = [
  tscPretty,
  parenthesised,
  gnu,
  boxed,
  goOrProto,
  protoImport,
  linker,
];
