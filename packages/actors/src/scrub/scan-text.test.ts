import { expect, test, vi } from "vitest";
import { masked, plantedSecrets, survivor } from "./mask.fixture.ts";
import { placesToLook, scanText } from "./scan-text.ts";

// Much work, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

test.each(plantedSecrets)("$kind is masked, and what stands around it stays", ({ text, secret }) => {
  expect(masked(text)).toBe(
    text.replace(secret, "<redacted>").replace("Bearer <redacted>\n", "<redacted>\n"),
  );
});

test.each(plantedSecrets)("$kind is found in a message that is searched as a whole", ({ text, secret }) => {
  // Length bytes that look like letters stand before a text on the wire.
  for (const before of ["", "2A", "zz", "\n-", "__"]) {
    expect(placesToLook(Buffer.from(before + text + before), { anyMarker: false }).length).toBeGreaterThan(0);
  }
  expect(survivor(Buffer.from(text), secret)).toBeDefined();
});

test("masking what is masked changes nothing", () => {
  for (const { text } of plantedSecrets) {
    const once = masked(text);
    expect(masked(once)).toBe(once);
  }
});

test.each([
  "INFO: Analyzed target //services/auth:token_lib_v2 (0 packages loaded).",
  "ERROR: /w/auth/BUILD:12:1: token 'secret' is not defined: expected password",
  "tokenizer.cc:12: error: token = lex(); next_token: undeclared",
  "PWD=/home/x OLDPWD=/y GIT_AUTHOR_NAME=bob PATH=/usr/bin XAUTHORITY_FILE=/x",
  "token=true password=None secret=$SECRET apiKey=$(key) auth=<redacted> token=*** passwd=12",
  "ssh://git@github.com/a/b.git git@github.com:a/b.git https://example.com/a@b user@example.com",
  "docker://alpine:3.19@sha256:e3b0c44298fc1c149afbf4c8996fb924 token: /w/src/lexer.cc:12",
  "@repo//pkg:target @@canonical~1.0//x:y //pkg:icon@2x.png --//flag:x=@y//:z",
  "Bearer authentication and basic usage of bearer tokens; Basic example",
  "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA0123456789\n-----END CERTIFICATE-----",
  "use --bes_header to set headers; see --remote_header for more",
  "task-abcdefghijklmnopqrstuvwxyzA1 sk-learn-with-a-very-long-name npm_config_registry_url ghp_short",
  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  '{"token": null, "auth": {"enabled": true}, "cookie": ["a"], "password": ""}',
  "--auth_enabled=true --google_auth_scopes=x --credential_helper=%workspace%/helper",
  "?key=name&page_token=5&sig=",
])("%s holds no secret", (text) => {
  expect(masked(text)).toBe(text);
  expect(masked(text, { goesOn: true })).toBe(text);
});

test.each([
  ["--bes_header=x-api-key=a b", "--bes_header=<redacted>"],
  ["--remote_header x=a b", "--remote_header <redacted>"],
  ["--default_override=1:build=--bes_header=x=a b", "--default_override=1:build=--bes_header=<redacted>"],
  [
    "--default_override=1:build=--action_env=MY_TOKEN=a b",
    "--default_override=1:build=--action_env=MY_TOKEN=<redacted>",
  ],
  ["--repo_env=AUTH_ENABLED=true", "--repo_env=AUTH_ENABLED=<redacted>"],
  ["--client_env=SOME_KEY=a", "--client_env=SOME_KEY=<redacted>"],
  ["--client_env=PATH=/usr/bin", "--client_env=PATH=/usr/bin"],
  ["MY_PASSWORD=a b c", "MY_PASSWORD=<redacted>"],
  ["--//:api_token=a b", "--//:api_token=<redacted>"],
  ["--remote_cache=https://h/?token=a&x=1", "--remote_cache=https://h/?token=<redacted>&x=1"],
  ["curl -H 'x-api-key: abc123' http://x", "curl -H 'x-api-key: <redacted>' http://x"],
])("the argument %s becomes %s", (argument, expected) => {
  expect(masked(argument, { argument: true })).toBe(expected);
});

test("a BEGIN line without a key masks four lines at most", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
  const text = masked(`expected -----BEGIN PRIVATE KEY----- here\n${lines}`);
  expect(text).toContain("line 3");
  expect(text).toContain("line 19");
});

const megabyte = 1 << 20;

test.each([
  "token=",
  "token = x ",
  "eyJ",
  "eyJa.",
  "://",
  "a://b@",
  "-----BEGIN ",
  "-----BEGIN PRIVATE KEY-----\n",
  "--bes_header ",
  '"token":"',
  '\\\\\\"token\\\\\\":',
  "Bearer ",
  "Basic dXNlcjp",
  "--token --token ",
  "sk-",
  "ghp_",
  "AKIA",
  "_auth",
  "_env",
  "xox",
  "https://aaaa:",
  "'password'",
  "token\u001b[0",
  "github_pat_",
  "Authorization: ",
  "?sig=&",
  "roxy=",
  "=",
])("a megabyte of %j is read in linear time", (pattern) => {
  const bytes = Buffer.alloc(megabyte, pattern);
  scanText({ bytes, from: 0, to: bytes.length }, { goesOn: true });
  scanText({ bytes, from: 0, to: megabyte / 8 }, { argument: true });
  placesToLook(bytes, { anyMarker: false });
  placesToLook(bytes, { anyMarker: true });
});
