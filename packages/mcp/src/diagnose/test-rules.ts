import type { Location } from "../store/record.ts";
import type { Finding, Rule } from "./rules.ts";

function testFinding(message: string, location?: Location): Finding {
  return {
    severity: "error",
    category: "test",
    message,
    ...(location === undefined ? {} : { location }),
  };
}

function at(path = "", line?: string, column?: string): Location {
  return {
    path,
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

/** gTest: `path:line: Failure`, then what was expected, until an empty line or the next bracket. */
const googleTest: Rule = (lines) => {
  const match = /^(.+?):(\d+): Failure$/.exec(lines(0)) ?? /^(.+?)\((\d+)\): error: ?(.*)$/.exec(lines(0));
  if (!match) return undefined;
  const text = [match[3] ?? ""];
  for (let offset = 1; offset <= 6; offset += 1) {
    const line = lines(offset).trim();
    if (line === "" || line.startsWith("[")) break;
    text.push(line);
  }
  return testFinding(text.filter((one) => one !== "").join("; ") || "Failure", at(match[1], match[2]));
};

/** go test: `    file_test.go:12: message` below or above `--- FAIL: TestName`. */
const goTest: Rule = (lines) => {
  const match = /^\s+([\w./-]+_test\.go):(\d+): (.+)$/.exec(lines(0));
  return match ? testFinding(match[3] ?? "", at(match[1], match[2])) : undefined;
};

/** A Go panic: the first frame of our own code is below `goroutine`. */
const goPanic: Rule = (lines) => {
  const match = /^(panic: .+|fatal error: .+)$/.exec(lines(0));
  if (!match) return undefined;
  for (let offset = 1; offset <= 30; offset += 1) {
    const place = /^\s+(\S+\.go):(\d+)/.exec(lines(offset));
    if (place && !/\/(runtime|testing)\//.test(place[1] ?? "")) {
      return testFinding(match[1] ?? "", at(place[1], place[2]));
    }
  }
  return testFinding(match[1] ?? "");
};

/** Rust: `thread 'x' panicked at path:line:column:` and the message after it (or before, in older ones). */
const rustPanic: Rule = (lines) => {
  const modern = /^thread '.*' (?:\(\d+\) )?panicked at (.+?):(\d+):(\d+):?$/.exec(lines(0));
  if (modern) return testFinding(lines(1).trim(), at(modern[1], modern[2], modern[3]));
  const older = /^thread '.*' panicked at '(.+)', (.+?):(\d+):(\d+)$/.exec(lines(0));
  return older ? testFinding(older[1] ?? "", at(older[2], older[3], older[4])) : undefined;
};

const javaException =
  /^(?:Caused by: |Exception in thread "[^"]*" )?((?:[\w$]+\.)+[\w$]*(?:Error|Exception|Failure)\b(?:: .*)?)$/;

/** JUnit and any JVM stack: the exception, at the first frame that is not a library's. */
const javaStack: Rule = (lines) => {
  const match = javaException.exec(lines(0));
  if (!match) return undefined;
  for (let offset = 1; offset <= 40; offset += 1) {
    const place = /^\s+at ([\w.$]+)\(([\w$]+\.(?:java|kt|scala)):(\d+)\)/.exec(lines(offset));
    if (
      place &&
      !/^(java|javax|jdk|sun|kotlin|org\.junit|org\.hamcrest|com\.google\.testing|junit)\./.test(
        place[1] ?? "",
      )
    ) {
      return testFinding(match[1] ?? "", at(place[2], place[3]));
    }
    if (offset > 1 && !/^\s+(at |\.\.\. )|^Caused by/.test(lines(offset))) break;
  }
  return testFinding(match[1] ?? "");
};

/** pytest: `E   message`, the place in the following `path:line: Error`. */
const pytest: Rule = (lines) => {
  const match = /^E {3,}(\S.*)$/.exec(lines(0));
  if (!match) return undefined;
  for (let offset = 1; offset <= 20; offset += 1) {
    const place = /^(\S+\.py):(\d+): (\w+)/.exec(lines(offset));
    if (place) return testFinding(match[1] ?? "", at(place[1], place[2]));
  }
  return testFinding(match[1] ?? "");
};

/** Jest, Vitest, Mocha: an error with a frame of ours below it. */
const scriptStack: Rule = (lines) => {
  const match = /^\s*((?:[\w$]*Error|AssertionError)(?: \[\w+\])?: .+)$/.exec(lines(0));
  if (!match) return undefined;
  for (let offset = 1; offset <= 15; offset += 1) {
    const place = /^\s+at (?:.*\()?(?:file:\/\/)?([^()\s]+\.[cm]?[jt]sx?):(\d+):(\d+)\)?$/.exec(
      lines(offset),
    );
    if (place && !/node_modules|^node:/.test(place[1] ?? "")) {
      return testFinding(match[1] ?? "", at(place[1], place[2], place[3]));
    }
  }
  return testFinding(match[1] ?? "");
};

/** Sanitizers and crashes. */
const crash: Rule = (lines) => {
  const match =
    /^(?:==\d+==\s*)?(ERROR: (?:\w+Sanitizer): .+|SUMMARY: \w+Sanitizer: .+|Segmentation fault.*|Aborted \(core dumped\)|.*: Assertion [`'].+' failed\.?|Check failure .+|F\d{4} .+\] .+)$/.exec(
      lines(0),
    );
  return match ? testFinding(match[1] ?? "") : undefined;
};

/** Anything that reads like a failed assertion. */
const assertion: Rule = (lines) => {
  const line = lines(0);
  return /\b(assert(ion)?(Error)? failed|expected .+ (but )?(got|was|found)|FAIL(ED)?: )/i.test(line)
    ? testFinding(line.trim())
    : undefined;
};

/** Rules for what tests print, the most exact first. */
export const testRules: readonly Rule[] = [
  googleTest,
  goTest,
  goPanic,
  rustPanic,
  pytest,
  javaStack,
  scriptStack,
  crash,
];

/** Tried only when no exact rule found anything. */
export const looseTestRules: readonly Rule[] = [assertion];
