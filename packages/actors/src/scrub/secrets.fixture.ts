/** Made-up secrets, each in a text that gives it away, with the part that must not survive. */
export interface PlantedSecret {
  readonly kind: string;
  readonly text: string;
  /** What is replaced by the mask. */
  readonly secret: string;
  /** The made-up part of it, which stands nowhere else. */
  readonly material: string;
}

/** Where made-up letters come from. */
export interface Letters {
  /** A-Z, a-z and 0-9, some of each. */
  base62(length: number): string;
  hex(length: number): string;
  upper(length: number): string;
}

type Around = (secret: string) => string;

// Secrets are put together from parts, so that no scanner of repositories takes them for real ones.

/** One secret of each kind that is masked. */
export function makeSecrets(letters: Letters): readonly PlantedSecret[] {
  const plain = (kind: string, secret: string, around: Around): PlantedSecret => {
    return { kind, secret, text: around(secret), material: secret };
  };
  /** `wrap` puts words around the made-up part that may stand elsewhere too. */
  const wrapped = (kind: string, wrap: Around, around: Around): PlantedSecret => {
    const material = letters.base62(41);
    const secret = wrap(material);
    return { kind, secret, text: around(secret), material };
  };
  const assigned = (kind: string, around: Around): PlantedSecret => plain(kind, letters.base62(41), around);
  return [
    ...tokens(letters).map(([kind, secret, around]) =>
      plain(kind, secret, around ?? ((it) => `with ${it} now`)),
    ),
    ...blocks(letters),
    wrapped(
      "our own key",
      (it) => `millrace_${it.slice(0, 8)}_${it}`,
      (it) => `with ${it} now`,
    ),
    assigned("AWS secret", (it) => `aws_secret_access_key = ${it}\n`),
    assigned("bearer token", (it) => `Authorization: Bearer ${it}\nnext`),
    assigned("bearer token without header", (it) => `sent bearer ${it} to it`),
    wrapped(
      "cookie",
      (it) => `sid=${it}; b=2`,
      (it) => `curl -H 'Cookie: ${it}' x`,
    ),
    assigned("API key header", (it) => `X-Api-Key: ${it}\r\n`),
    wrapped(
      "header flag",
      (it) => `x-api-key=${it}`,
      (it) => `bazel --bes_header=${it} --other`,
    ),
    wrapped(
      "header flag, quoted",
      (it) => `Authorization=Bearer ${it}`,
      (it) => `bazel '--remote_header=${it}' --other`,
    ),
    wrapped(
      "header flag, apart",
      (it) => `x=${it}`,
      (it) => `bazel --remote_cache_header ${it} -k`,
    ),
    assigned("environment flag", (it) => `--action_env=MY_SECRET=${it} --x`),
    wrapped(
      "environment flag, quoted",
      (it) => `${it} b`,
      (it) => `--client_env='DB_PASSWORD=${it}' --x`,
    ),
    assigned("environment flag, apart", (it) => `--test_env SESSION_KEY=${it} --x`),
    assigned("environment flag of a host", (it) => `--host_action_env=DB_PASS=${it} --x`),
    wrapped(
      "URL password",
      (it) => `user:${it}`,
      (it) => `GET https://${it}@example.com/x`,
    ),
    wrapped(
      "URL password of a thousand letters",
      (it) => `oauth2:${it.repeat(25)}`,
      (it) => `git clone https://${it}@example.com/x`,
    ),
    assigned("URL user", (it) => `GET https://${it}@example.com/x`),
    wrapped(
      "URL without host",
      (it) => `:${it}`,
      (it) => `GET ftp://${it}@/x`,
    ),
    wrapped(
      "escaped URL",
      (it) => `u:${it}`,
      (it) => `{"url":"https:\\/\\/${it}@h\\/"}`,
    ),
    wrapped(
      "encoded URL",
      (it) => `u%3A${it}`,
      (it) => `GET https://h/?to=https%3A%2F%2F${it}%40h%2F x`,
    ),
    assigned("encoded assignment", (it) => `GET https://h/?to=x%3Faccess_token%3D${it} x`),
    wrapped(
      "encoded JSON",
      (it) => `${it}%22%7D`,
      (it) => `GET https://h/?q=%7B%22clientSecret%22%3A%22${it} x`,
    ),
    wrapped(
      "proxy",
      (it) => `user:${it}`,
      (it) => `https_proxy=${it}@proxy:3128 x`,
    ),
    assigned("query parameter", (it) => `GET https://h/p?a=1&access_token=${it}&b=2 x`),
    plain("signature", `${letters.hex(40)}%3D`, (it) => `GET https://h/p?sv=2&sig=${it} x`),
    assigned("assignment", (it) => `export GITHUB_TOKEN=${it} x`),
    plain("assignment of a short password", letters.base62(8), (it) => `password=${it} x`),
    assigned("connection string", (it) => `Server=db;User Id=sa;Password=${it};Encrypt=true`),
    wrapped(
      "account key",
      (it) => `${it}==`,
      (it) => `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${it};a=b`,
    ),
    assigned("JSON", (it) => `{"a": 1, "apiKey": "${it}", "b": 2}`),
    assigned("JSON in JSON", (it) => `{"a": "{\\"clientSecret\\": \\"${it}\\"}"}`),
    assigned("YAML", (it) => `user: bob\npassword: ${it}\nb: 2`),
    assigned("XML", (it) => `<user>bob</user><password>${it}</password>`),
    assigned("netrc", (it) => `machine example.com login bob password ${it}\n`),
    assigned("npmrc", (it) => `//registry.npmjs.org/:_authToken=${it}\n`),
    assigned("Python dict", (it) => `{'password': '${it}', 'b': 2}`),
    assigned("coloured assignment", (it) => `\u001b[36mtoken\u001b[0m=\u001b[31m${it}\u001b[0m x`),
    assigned("command-line flag", (it) => `tool --token ${it} x`),
  ];
}

type Token = readonly [kind: string, secret: string, around?: Around];

/** What is known by how it looks. */
function tokens({ base62, hex, upper }: Letters): readonly Token[] {
  return [
    ["GitHub token", `ghp_${base62(36)}`],
    ["GitHub app token", `ghs_${base62(36)}`, (it) => `(${it})`],
    ["fine-grained GitHub token", `github_pat_${base62(41)}`, (it) => `use ${it}.`],
    ["GitLab token", `glpat-${base62(20)}`, (it) => `glab ${it}\n`],
    ["AWS key id", `AKIA${upper(16)}`],
    ["Google API key", `AIza${base62(35)}`],
    ["Google access token", `ya29.${base62(41)}`],
    ["Slack token", `xoxb-${base62(12)}-${base62(24)}`],
    [
      "Slack webhook",
      `${base62(9)}/${base62(9)}/${base62(24)}`,
      (it) => `https://hooks.slack.com/services/${it} ok`,
    ],
    ["Discord webhook", `${base62(18)}/${base62(41)}`, (it) => `POST discord.com/api/webhooks/${it} x`],
    ["npm token", `npm_${base62(36)}`],
    ["Stripe key", `sk_live_${base62(24)}`],
    ["Buildkite token", `bkua_${hex(40)}`],
    ["Anthropic key", `sk-ant-api03-${base62(41)}`],
    ["OpenAI key", `sk-${base62(41)}`],
    ["Atlassian token", `ATATT3x${base62(60)}`],
    ["Grafana token", `glsa_${base62(32)}`],
    ["Doppler token", `dp.st.prd.${base62(43)}`],
    ["CircleCI token", `CCIPAT_${base62(41)}`],

    ["basic authorisation", base64(`user:${base62(41)}`), (it) => `got Basic ${it} `],
  ];
}

function blocks(letters: Letters): readonly PlantedSecret[] {
  const pemBody = Array.from({ length: 6 }, () => letters.base62(64)).join("\n");
  const pemOf = (body: string): string =>
    `-----BEGIN RSA PRIVATE ${"KEY"}-----\n${body}\nAbCd==\n-----END RSA PRIVATE KEY-----`;
  const openSsh = `-----BEGIN OPENSSH PRIVATE ${"KEY"}-----\n${letters.base62(70)}\n-----END OPENSSH PRIVATE KEY-----`;
  const jsonBody = letters.base62(64);
  const payload = base64(`{"sub":"${letters.base62(41)}"}`);
  const jwt = `${base64('{"alg":"HS256"}')}.${payload}.${letters.base62(43)}`;
  return [
    {
      kind: "JSON Web Token",
      secret: jwt,
      text: `jwt ${jwt} end`,
      material: jwt.slice(jwt.indexOf(".") + 1),
    },
    {
      kind: "PEM private key",
      secret: pemOf(pemBody),
      text: `key:\n${pemOf(pemBody)}\ndone`,
      material: pemBody,
    },
    {
      kind: "OpenSSH private key",
      secret: openSsh,
      text: `+ cat id_ed25519\n${openSsh}\n+ true`,
      material: openSsh.split("\n")[1] ?? "",
    },
    {
      kind: "PEM private key in JSON",
      secret: pemOf(jsonBody).replaceAll("\n", "\\n"),
      text: `{"private_key": "${pemOf(jsonBody).replaceAll("\n", "\\n")}\\n", "a": 1}`,
      material: jsonBody,
    },
  ];
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64url");
}
