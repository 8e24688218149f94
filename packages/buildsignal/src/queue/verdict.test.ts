import { MillraceError } from "@millrace/base/errors";
import { expect, test } from "vitest";
import { classifyHttpStatus, RunnerError } from "../runner-error.ts";
import { type Classifier, isRetryable, judge } from "./verdict.ts";

const withCode = (code: string) => Object.assign(new Error("x"), { code });
const withStatus = (status: number) => Object.assign(new Error("x"), { status });
const named = (name: string) => Object.assign(new Error("x"), { name });
const wrapped = (cause: unknown) => new Error("outer", { cause });

test.each([
  [408, "dependency-retryable"],
  [429, "dependency-retryable"],
  [500, "dependency-retryable"],
  [501, "dependency-retryable"],
  [503, "dependency-retryable"],
  [505, "dependency-retryable"],
  [404, "dependency"],
  [403, "dependency"],
  [304, "dependency"],
  [200, "unknown"],
] as const)("an HTTP status %i is %s, however deep it lies", (status, verdict) => {
  expect(judge(withStatus(status))).toBe(verdict);
  expect(judge(wrapped(wrapped(withStatus(status))))).toBe(verdict);
});

test.each(["ECONNRESET", "ENOTFOUND", "EPIPE", "UND_ERR_HEADERS_TIMEOUT", "ERR_TLS_CERT_ALTNAME_INVALID"])(
  "the network's %s may pass",
  (code) => {
    expect(judge(withCode(code))).toBe("dependency-retryable");
    expect(judge(wrapped(withCode(code)))).toBe("dependency-retryable");
  },
);

test("a cancellation and a time limit may pass", () => {
  expect(judge(named("AbortError"))).toBe("infra-retryable");
  expect(judge(named("TimeoutError"))).toBe("dependency-retryable");
});

test.each([new Error("?"), "a string", undefined, null, 7, withCode("WHATEVER"), withCode("23505")])(
  "what nobody recognises (%s) is not tried again",
  (error) => {
    expect(judge(error)).toBe("unknown");
    expect(isRetryable(judge(error))).toBe(false);
  },
);

test("an error that is classified, anywhere in the chain, keeps its remedy", () => {
  const rejected = new MillraceError({ remedy: "reject", code: "x", message: "x", cause: withStatus(503) });
  expect(judge(rejected)).toBe("infra");
  expect(judge(Object.assign(wrapped(rejected), { status: 503 }))).toBe("infra");
  expect(judge(wrapped(new RunnerError({ kind: "transient", message: "x" })))).toBe("infra-retryable");
  for (const kind of ["not_found", "forbidden", "invalid", "uncertain"] as const) {
    expect(isRetryable(judge(new RunnerError({ kind, message: "x" })))).toBe(false);
  }
});

test("the outermost error decides, then the order of the classifiers; each sees one error alone", () => {
  const seen: unknown[] = [];
  const first: Classifier = (node) => {
    seen.push(node);
    return node === "inner" ? "user" : "unknown";
  };
  const second: Classifier = (node) => (node instanceof Error ? "infra" : "unknown");
  expect(judge(wrapped("inner"), [first, second])).toBe("infra");
  expect(seen).toHaveLength(1);
  expect(judge("inner", [first, second])).toBe("user");
});

test("a chain of causes that bites its own tail ends", () => {
  const error = new Error("a");
  error.cause = wrapped(error);
  expect(judge(error)).toBe("unknown");
});

test.each([
  [500, "transient", "uncertain"],
  [501, "transient", "transient"],
  [502, "transient", "uncertain"],
  [503, "transient", "transient"],
  [504, "transient", "uncertain"],
  [408, "transient", "transient"],
  [429, "transient", "transient"],
  [404, "not_found", "not_found"],
  [403, "forbidden", "forbidden"],
  [422, "invalid", "invalid"],
] as const)("HTTP %i of a runner: status %s, trigger %s", (status, ofStatus, ofTrigger) => {
  expect(classifyHttpStatus(status, "status")).toBe(ofStatus);
  expect(classifyHttpStatus(status, "trigger")).toBe(ofTrigger);
});
