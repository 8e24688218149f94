import type { Category, Location } from "../store/record.ts";
import { isNoise } from "./noise.ts";
import type { Finding, Lines, Rule } from "./rules.ts";

/** Which phase a message of Bazel is about, from Bazel's own wording. */
export function bazelCategory(message: string): Category {
  if (/is not visible from|Visibility error/i.test(message)) return "visibility";
  if (/^(Skipping '|no such (package|target)|error loading package|syntax error)/.test(message)) {
    return "loading";
  }
  if (
    /no such (package|target)|contains errors|cannot load|BUILD file not found|file ended unexpectedly/.test(
      message,
    )
  ) {
    return "loading";
  }
  if (/\bfailed: \(|^(Executing|Compiling|Linking|Building|Action) /.test(message)) return "action";
  if (/Analysis of (target|aspect)|in \S+ rule |attribute|in .* aspect|provider/.test(message))
    return "analysis";
  if (/WORKSPACE|MODULE\.bazel|repository|module extension/.test(message)) return "workspace";
  if (/Unrecognized option|unknown (startup )?option|option .* requires|Command .* not found/i.test(message))
    return "bazel";
  return "unknown";
}

const consequence: readonly RegExp[] = [
  /^error loading package '[^']*': Package '[^']*' contains errors/,
  /build aborted(: Analysis failed)?$/,
  /^Analysis of target '[^']*' failed/,
  /^Couldn't build file /,
  /^Skipping '/,
  /^(?:.* )?failed to build$/,
  /^command succeeded, but/,
  /^Build did NOT/,
  /did not complete successfully/i,
];

/** True for messages that only say that something failed because something else did. */
export function isConsequence(message: string): boolean {
  return consequence.some((pattern) => pattern.test(message));
}

const located =
  /^(?:ERROR|FATAL|WARNING): ((?:[A-Za-z]:)?[^\s:][^:]*?(?:BUILD(?:\.bazel)?|\.bzl|WORKSPACE(?:\.bazel)?|MODULE\.bazel|\.bazelrc|\.star)):(\d+)(?::(\d+))?: (.+)$/;
const plain = /^(ERROR|FATAL|WARNING): (.+)$/;

/** Bazel's own messages: `ERROR: path:line:column: message`, with indented or continued lines. */
const bazelMessage: Rule = (lines) => {
  const line = lines(0);
  const head = plain.exec(line);
  if (!head) return undefined;
  const at = located.exec(line);
  const text = continued(at?.[4] ?? head[2] ?? "", lines);
  const category = bazelCategory(text);
  const words = category === "action" ? actionWords(lines) : [];
  return {
    severity: head[1] === "WARNING" ? "warning" : "error",
    category,
    message: [text.trimEnd(), ...words].join("\n"),
    ...(at ? { location: place(at) } : {}),
    // Without words of the action it gives no more than the exit code.
    isConsequence: isConsequence(text) || (category === "action" && words.length === 0),
  };
};

const actionWordsMax = 3;
const actionLinesMax = 200;

/** What a failed action printed, as Bazel repeats it behind its message: behind the command and a sandbox's trace. */
function actionWords(lines: Lines): string[] {
  const words: string[] = [];
  for (let offset = 1; offset <= actionLinesMax && words.length < actionWordsMax; offset += 1) {
    const line = lines(offset);
    if (/^(ERROR|FATAL|WARNING|INFO|FAIL|FAILED|Target |\[\d)/.test(line)) break;
    const isCommand = words.length === 0 && /^ {2}\S/.test(line);
    if (!isCommand && !isNoise(line)) words.push(line.trimEnd());
  }
  return words;
}

function place(match: RegExpExecArray): Location {
  const [, path = "", line, column] = match;
  return {
    path,
    line: Number(line),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

/** Lines that belong to a message: indented lists, and the two lines of a visibility error. */
function continued(first: string, lines: Lines): string {
  let text = first;
  for (let offset = 1; offset <= 4; offset += 1) {
    const line = lines(offset);
    const belongs =
      /^ - /.test(line) || (/Visibility error:?$|is not visible from$/.test(text) && line !== "");
    if (!belongs || /^\s+\(cd /.test(line)) break;
    text += `\n${line}`;
  }
  return text;
}

const frame = /^\t?\s*File "([^"]+)", line (\d+)(?:, column (\d+))?, in (.+)$/;

/** A Starlark or Python traceback: the innermost frame is where, the line after the frames is what. */
const traceback: Rule = (lines) => {
  if (!/Traceback \(most recent call last\):\s*$/.test(lines(0))) return undefined;
  let location: Location | undefined;
  let isStarlark = false;
  for (let offset = 1; offset <= 200; offset += 1) {
    const line = lines(offset);
    const match = frame.exec(line);
    if (match) {
      const [, path = "", number, column] = match;
      isStarlark ||= /\.bzl$|BUILD|WORKSPACE|MODULE/.test(path);
      if (path.startsWith("<builtin>")) continue;
      location = { path, line: Number(number), ...(column === undefined ? {} : { column: Number(column) }) };
    } else if (/^\S/.test(line) || /^(\t|\s*)Error( in \w+)?: /.test(line)) {
      return tracebackEnd({ message: line.trim(), location, isStarlark });
    } else if (line === "" && offset > 2 && lines(offset + 1) === "") break;
  }
  return undefined;
};

function tracebackEnd(end: {
  message: string;
  location: Location | undefined;
  isStarlark: boolean;
}): Finding | undefined {
  if (!/^[\w.]*(Error|Exception|Interrupt|Exit|Failure|Warning)\b|^Error/.test(end.message)) return undefined;
  return {
    severity: "error",
    category: end.isStarlark ? "analysis" : "compilation",
    message: end.message,
    ...(end.location === undefined ? {} : { location: end.location }),
  };
}

/** The client's own refusals, before a server is asked. */
const client: Rule = (lines) => {
  const match = /^(?:\[bazel[^\]]*\] )?(Unknown startup option: .+|bazel: .*(?:error|not found).*)$/.exec(
    lines(0),
  );
  return match ? { severity: "error", category: "bazel", message: match[1] ?? "" } : undefined;
};

export const bazelRules: readonly Rule[] = [traceback, bazelMessage, client];
