import { expect, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const redactor = createRedactor(["corp-[0-9]+"]);

test.each([
  "--remote_header=authorization=Bearer abc123def456",
  "--remote_header=x-api-key=abc123def456",
  "Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l",
  "https://user:hunter22@host/path",
  "--client_env=GITHUB_TOKEN=ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "MY_PASSWORD=hunter22 ./run",
  "key AKIAABCDEFGHIJKLMNOP end",
  "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdef",
  "corp-12345",
])("%s is redacted", (text) => {
  const output = redactor.text(text);
  expect(output).toContain("[redacted]");
  expect(output).not.toMatch(/abc123def456|YWxhZGRp|hunter22|ghp_a|AKIAABC|eyJzdWI|corp-1/);
});

test.each([
  "ERROR: /ws/BUILD:3:1: no such target '//a:b'",
  "--keep_going",
  "//auth/token:token_test FAILED",
  "https://bazel.build/concepts/visibility",
  "monkey.go:12:3: undefined: key",
])("%s stays", (text) => {
  expect(redactor.text(text)).toBe(text);
});

test("a header in two words is redacted", () => {
  expect(redactor.arguments(["--bes_header", "x=secret", "//a"])).toEqual([
    "--bes_header",
    "x=[redacted]",
    "//a",
  ]);
});
