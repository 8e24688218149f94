import { plantedSecrets, secretMaterial } from "@millrace/actors/scrub/mask.fixture";
import { expect, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const redactor = createRedactor(["corp-[0-9]+"]);

test.each(plantedSecrets)("$kind of the server's rules", ({ text, secret }) => {
  const output = redactor.text(text);
  expect(output).toContain("<redacted>");
  expect(output).not.toContain(secret);
  for (const material of secretMaterial) expect(output).not.toContain(material);
});

// Every form that was masked before the server's rules were used here.
test.each([
  "--remote_header=authorization=Bearer abc123def456",
  "--remote_header=x-api-key=abc123def456",
  "Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l",
  "Basic YWxhZGRpbm9wZW5zZXNhbWU1",
  "sent token abc123def456 to the host",
  "bearer abc123def456",
  "https://user:hunter22@host/path",
  "--client_env=GITHUB_TOKEN=ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "MY_PASSWORD=hunter22 ./run",
  "auth_token_v2: abc123def456",
  "auth_token_v2: abc123def456/Abc123def456",
  "my.secret.value = abc123def456",
  "client-secret-id: 'abc123def456'",
  '"passwordHash": "abc123def456"',
  "API_KEY=abc123def456",
  "access_key: abc123def456",
  "PASSPHRASE=abc123def456",
  "key AKIAABCDEFGHIJKLMNOP end",
  "ASIAABCDEFGHIJKLMNOP",
  `AIza${"abc123def456".repeat(3)}`,
  `xoxb-${"abc123def456"}`,
  `glpat-${"abc123def456".repeat(2)}`,
  `npm_${"abc123def456".repeat(3)}`,
  `github_pat_${"abc123def456".repeat(2)}`,
  `sk-${"Abc123def456".repeat(3)}`,
  `millrace_k1_${"abc123def456".repeat(2)}`,
  "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdef",
  "-----BEGIN RSA PRIVATE KEY-----\nabc123def456\n-----END RSA PRIVATE KEY-----",
  "-----BEGIN PRIVATE KEY-----\nabc123def456",
  "corp-12345",
])("%s is redacted", (text) => {
  const output = redactor.text(text);
  expect(output).toContain("<redacted>");
  expect(output).not.toMatch(
    /[aA]bc123def456|YWxhZGRp|hunter22|ghp_a|A[KS]IAABC|eyJzdWI|corp-1|-----BEGIN PRIVATE/,
  );
  expect(redactor.text(output)).toBe(output);
});

test.each([
  "ERROR: /ws/BUILD:3:1: no such target '//a:b'",
  "--keep_going",
  "//auth/token:token_test FAILED",
  "https://bazel.build/concepts/visibility",
  "monkey.go:12:3: undefined: key",
  "error: expected unqualified-id before 'token'",
  "SyntaxError: Unexpected token identifier in line 3",
  "basic authentication is not supported; bearer authentication is",
  "author: somebody with a long name",
  "token_lib version: 1.2.3.4567",
  "keyboard = //lib/key:keyboard",
  "auth.proto: src/auth/v1/auth.proto:12",
])("%s stays", (text) => {
  expect(redactor.text(text)).toBe(text);
});

test.each([
  [
    ["--bes_header", "x=secret", "//a"],
    ["--bes_header", "<redacted>", "//a"],
  ],
  [
    ["--client_env", "DB_PASSWORD=a b"],
    ["--client_env", "DB_PASSWORD=<redacted>"],
  ],
  [
    ["--remote_cache=https://u:p4ss@h/c", "-k"],
    ["--remote_cache=https://<redacted>@h/c", "-k"],
  ],
  [["--default_override=1:build=--bes_header=x=a b"], ["--default_override=1:build=--bes_header=<redacted>"]],
  [
    ["--test_filter=Foo", "--test_env=PATH=/bin"],
    ["--test_filter=Foo", "--test_env=PATH=/bin"],
  ],
  [
    ["--//:api_token", "hunter22"],
    ["--//:api_token", "<redacted>"],
  ],
])("the words %j are kept as %j", (words, expected) => {
  expect(redactor.arguments(words)).toEqual(expected);
});
