import { applyEdits, maskText } from "./edits.ts";
import { scanText } from "./scan-text.ts";
import type { ScanMode } from "./text-scan.ts";

/** The text with its secrets masked, read by the given mode. */
export function masked(text: string, mode: ScanMode = {}): string {
  const bytes = Buffer.from(text);
  const { spans } = scanText({ bytes, from: 0, to: bytes.length }, mode);
  const edits = spans.map((span) => ({ from: span.from, to: span.to, bytes: maskText(span) }));
  return Buffer.from(applyEdits(bytes, { from: 0, to: bytes.length }, edits)).toString();
}

/** Made-up secrets, each in a text that gives it away, with the part that must not survive. */
export interface PlantedSecret {
  readonly kind: string;
  readonly text: string;
  readonly secret: string;
}

// Put together from parts, so that no scanner of repositories takes them for real ones.
const filler = "q7Rz1Xc5Vb9Nm3Lk8Jh2Gf6Ds0Ap4Yt7Ur1Ie5Wo";
const hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c";
const jwt = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.${Buffer.from(`{"sub":"${filler}"}`).toString("base64url")}.${filler}`;
const pemBody = Array.from({ length: 6 }, (_, line) => filler.repeat(2).slice(line, line + 64)).join("\n");
const pem = `-----BEGIN RSA PRIVATE ${"KEY"}-----\n${pemBody}\nAbCd==\n-----END RSA PRIVATE KEY-----`;

function plain(kind: string, secret: string, around: (secret: string) => string): PlantedSecret {
  return { kind, secret, text: around(secret) };
}

export const plantedSecrets: readonly PlantedSecret[] = [
  plain("GitHub token", `ghp_${filler.slice(0, 36)}`, (it) => `cloning with ${it} now`),
  plain("GitHub app token", `ghs_${filler.slice(0, 36)}`, (it) => `(${it})`),
  plain("fine-grained GitHub token", `github_pat_${filler}`, (it) => `use ${it}.`),
  plain("GitLab token", `glpat-${filler.slice(0, 20)}`, (it) => `glab ${it}\n`),
  plain("AWS key id", `AKIA${"QWERTYUIOPASDFGH"}`, (it) => `id ${it} used`),
  plain("AWS secret", filler, (it) => `aws_secret_access_key = ${it}\n`),
  plain("Google API key", `AIza${filler.slice(0, 35)}`, (it) => `key ${it} `),
  plain("Google access token", `ya29.${filler}`, (it) => `t ${it} `),
  plain("Slack token", `xoxb-${"123456789012"}-${filler}`, (it) => `slack ${it} `),
  plain("Slack webhook", `T0123/B0456/${filler}`, (it) => `post https://hooks.slack.com/services/${it} ok`),
  plain("npm token", `npm_${filler.slice(0, 36)}`, (it) => `//registry/:x ${it} `),
  plain("Stripe key", `sk_live_${filler.slice(0, 24)}`, (it) => `pay ${it} `),
  plain("Buildkite token", `bkua_${hex}`, (it) => `bk ${it} `),
  plain("Anthropic key", `sk-ant-api03-${filler}`, (it) => `llm ${it} `),
  plain("OpenAI key", `sk-${filler}`, (it) => `llm ${it} `),
  plain("our own key", `millrace_${filler.slice(0, 8)}_${filler}`, (it) => `mr ${it} `),
  plain("JSON Web Token", jwt, (it) => `jwt ${it} end`),
  plain("PEM private key", pem, (it) => `key:\n${it}\ndone`),
  plain(
    "PEM private key in JSON",
    pem.replaceAll("\n", "\\n"),
    (it) => `{"private_key": "${it}\\n", "a": 1}`,
  ),
  plain("bearer token", filler, (it) => `Authorization: Bearer ${it}\nnext`),
  plain("bearer token without header", filler, (it) => `sent bearer ${it} to it`),
  plain("basic authorisation", Buffer.from(`user:${filler}`).toString("base64"), (it) => `got Basic ${it} `),
  plain("cookie", `sid=${filler}; b=2`, (it) => `curl -H 'Cookie: ${it}' x`),
  plain("API key header", filler, (it) => `X-Api-Key: ${it}\r\n`),
  plain("header flag", `x-api-key=${filler}`, (it) => `bazel --bes_header=${it} --other`),
  plain(
    "header flag, quoted",
    `Authorization=Bearer ${filler}`,
    (it) => `bazel '--remote_header=${it}' --other`,
  ),
  plain("header flag, apart", `x=${filler}`, (it) => `bazel --remote_cache_header ${it} -k`),
  plain("environment flag", filler, (it) => `--action_env=MY_SECRET=${it} --x`),
  plain("environment flag, quoted", `${filler} b`, (it) => `--client_env='DB_PASSWORD=${it}' --x`),
  plain("environment flag, apart", filler, (it) => `--test_env SESSION_KEY=${it} --x`),
  plain("URL password", `user:${filler}`, (it) => `GET https://${it}@example.com/x`),
  plain("URL user", filler, (it) => `GET https://${it}@example.com/x`),
  plain("URL without host", `:${filler}`, (it) => `GET ftp://${it}@/x`),
  plain("escaped URL", `u:${filler}`, (it) => `{"url":"https:\\/\\/${it}@h\\/"}`),
  plain("encoded URL", `u%3A${filler}`, (it) => `GET https://h/?to=https%3A%2F%2F${it}%40h%2F x`),
  plain("Discord webhook", `123456789012345678/${filler}`, (it) => `POST discord.com/api/webhooks/${it} x`),
  plain("encoded assignment", filler, (it) => `GET https://h/?to=x%3Faccess_token%3D${it} x`),
  plain("proxy", `user:${filler}`, (it) => `https_proxy=${it}@proxy:3128 x`),
  plain("query parameter", filler, (it) => `GET https://h/p?a=1&access_token=${it}&b=2 x`),
  plain("signature", `${hex}%3D`, (it) => `GET https://h/p?sv=2&sig=${it} x`),
  plain("assignment", filler, (it) => `export GITHUB_TOKEN=${it} x`),
  plain("assignment of a short password", "hunter22", (it) => `password=${it} x`),
  plain("JSON", filler, (it) => `{"a": 1, "apiKey": "${it}", "b": 2}`),
  plain("JSON in JSON", filler, (it) => `{"a": "{\\"clientSecret\\": \\"${it}\\"}"}`),
  plain("Python dict", filler, (it) => `{'password': '${it}', 'b': 2}`),
  plain("coloured assignment", filler, (it) => `\u001b[36mtoken\u001b[0m=\u001b[31m${it}\u001b[0m x`),
  plain("command-line flag", filler, (it) => `tool --token ${it} x`),
];

/** What is secret in them, without the words around it that anyone may write. */
export const secretMaterial: readonly string[] = [
  filler,
  hex,
  jwt,
  Buffer.from(`user:${filler}`).toString("base64"),
  "QWERTYUIOPASDFGH",
  "hunter22",
];

const windowBytes = 8;

/** The first eight-byte piece of `secret` that stands in `bytes`, if any. */
export function survivor(bytes: Uint8Array, secret: string): string | undefined {
  const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + windowBytes <= secret.length; at += 1) {
    const window = secret.slice(at, at + windowBytes);
    if (haystack.includes(window)) return window;
  }
  return undefined;
}
