import { build_event_stream } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";
import { expect, test, vi } from "vitest";
import {
  type BepProperties,
  bazelEvent,
  decodeBazelEvent,
  projectAll,
  streamFinished,
} from "../project/project-all.fixture.ts";
import { readRecordedStreams } from "../project/recorded-streams.fixture.ts";
import { plantedSecrets, survivor } from "./mask.fixture.ts";

// Much work, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const token = plantedSecrets[0]?.secret ?? "";
const inText = `cloning with ${token} now`;

function scrubbed(bep: BepProperties): BepProperties {
  return decodeBazelEvent(scrub(bazelEvent(bep)));
}

function scrub(event: Uint8Array): Uint8Array {
  const [bytes] = projectAll([event]).events;
  if (bytes === undefined) throw new Error("no event came out");
  return bytes;
}

/** One event of each pair of id and payload of the recorded streams. */
function everyKind(): Map<string, build_event_stream.BuildEvent> {
  const kinds = new Map<string, build_event_stream.BuildEvent>();
  for (const { events } of readRecordedStreams("bazel7-")) {
    for (const event of events) {
      const bep = decodeBazelEvent(event);
      const kind = `${bep.id?.id} ${bep.payload}`;
      if (bep.payload !== undefined && !kinds.has(kind)) kinds.set(kind, bep);
    }
  }
  return kinds;
}

/** Calls `visit` for every text in a decoded message, with a setter. Byte fields hold text too. */
function eachText(
  value: object,
  visit: (path: string, set: (text: string) => void) => void,
  path = "",
): void {
  for (const [key, child] of Object.entries(value)) {
    if (key.startsWith("$")) continue;
    const place = `${path}.${key}`;
    const holder = value as Record<string, unknown>;
    if (typeof child === "string")
      visit(place, (text) => {
        holder[key] = text;
      });
    else if (child instanceof Uint8Array)
      visit(place, (text) => {
        holder[key] = Buffer.from(text);
      });
    else if (typeof child === "object" && child !== null) eachText(child, visit, place);
  }
}

// Masked in place: nothing in there is shown to anybody.
const opaque = /^\.buildMetrics\.|\.strategyDetails\./;

test("a secret in any text of any kind of event is masked, and no other byte changes", () => {
  const kinds = everyKind();
  expect(kinds.size).toBeGreaterThan(20);
  let texts = 0;
  for (const bep of kinds.values()) {
    const original = build_event_stream.BuildEvent.encode(bep).finish();
    eachText(bep, (path) => {
      const planted = build_event_stream.BuildEvent.decode(original);
      const expected = build_event_stream.BuildEvent.decode(original);
      eachText(planted, (at, set) => at === path && set(inText));
      eachText(expected, (at, set) => at === path && set("cloning with <redacted> now"));
      const out = scrub(bazelEvent(planted));
      if (opaque.test(path)) expect(survivor(out, token), path).toBeUndefined();
      else expect(Buffer.from(out), path).toEqual(Buffer.from(bazelEvent(expected)));
      texts += 1;
    });
  }
  expect(texts).toBeGreaterThan(300);
});

test("all three command-line events lose header values and environment values that look like credentials", () => {
  const args = [
    "--bes_header=x-api-key=abc def",
    "--remote_header",
    "authorization=Bearer abc",
    "--default_override=1:build=--remote_exec_header",
    "--default_override=1:build=x=abc",
    "--client_env=MY_TOKEN=abc def",
    "--test_env",
    "DB_PASSWORD=abc",
    "--action_env=PATH=/usr/bin",
    "//:all",
  ];
  const masked = [
    "--bes_header=<redacted>",
    "--remote_header",
    "<redacted>",
    "--default_override=1:build=--remote_exec_header",
    "--default_override=1:build=<redacted>",
    "--client_env=MY_TOKEN=<redacted>",
    "--test_env",
    "DB_PASSWORD=<redacted>",
    "--action_env=PATH=/usr/bin",
    "//:all",
  ];
  expect(scrubbed({ unstructuredCommandLine: { args } }).unstructuredCommandLine?.args).toEqual(masked);
  const options = scrubbed({ optionsParsed: { cmdLine: args, explicitCmdLine: args, startupOptions: args } });
  expect(options.optionsParsed).toMatchObject({
    cmdLine: masked,
    explicitCmdLine: masked,
    startupOptions: masked,
  });
  const chunks = scrubbed({ structuredCommandLine: { sections: [{ chunkList: { chunk: args } }] } });
  expect(chunks.structuredCommandLine?.sections?.[0]?.chunkList?.chunk).toEqual(masked);
  expect(scrubbed({ action: { commandLine: args } }).action?.commandLine).toEqual(masked);
  const run = scrubbed({ execRequest: { argv: args.map((arg) => Buffer.from(arg)) } });
  expect(run.execRequest?.argv?.map((arg) => Buffer.from(arg).toString())).toEqual(masked);
});

test("an option of the structured command line is masked in its combined form and in its value", () => {
  const option = [
    { combinedForm: "--bes_header=k=abc def", optionName: "bes_header", optionValue: "k=abc def" },
    { combinedForm: "--remote_cache_header k=abc", optionName: "remote_cache_header", optionValue: "k=abc" },
    {
      combinedForm: "--host_action_env=API_KEY=abc",
      optionName: "host_action_env",
      optionValue: "API_KEY=abc",
    },
    {
      combinedForm: "--repo_env=CC=gcc",
      optionName: "repo_env",
      optionValue: "CC=gcc",
      source: `rc ${token}`,
    },
    { combinedForm: "--//:token=abc", optionName: "//:token", optionValue: "abc" },
    {
      combinedForm: "--default_override=1:build=--bes_header",
      optionName: "default_override",
      optionValue: "1:build=--bes_header",
    },
    {
      combinedForm: "--default_override=1:build=x=abc",
      optionName: "default_override",
      optionValue: "1:build=x=abc",
    },
    {
      combinedForm: "--default_override=1:build=-c",
      optionName: "default_override",
      optionValue: "1:build=-c",
    },
  ];
  const out = scrubbed({ structuredCommandLine: { sections: [{ optionList: { option } }] } });
  expect(out.structuredCommandLine?.sections?.[0]?.optionList?.option).toMatchObject([
    { combinedForm: "--bes_header=<redacted>", optionValue: "<redacted>" },
    { combinedForm: "--remote_cache_header <redacted>", optionValue: "<redacted>" },
    { combinedForm: "--host_action_env=API_KEY=<redacted>", optionValue: "API_KEY=<redacted>" },
    { combinedForm: "--repo_env=CC=gcc", optionValue: "CC=gcc", source: "rc <redacted>" },
    { combinedForm: "--//:token=<redacted>", optionValue: "<redacted>" },
    option[5],
    { combinedForm: "--default_override=1:build=<redacted>", optionValue: "1:build=<redacted>" },
    option[7],
  ]);
});

test("values are masked by their names in workspace status, build metadata, environments and flag policies", () => {
  const status = scrubbed({
    workspaceStatus: {
      item: [
        { key: "STABLE_API_TOKEN", value: "abc def" },
        { key: "BUILD_USER", value: "bob" },
      ],
    },
  });
  expect(status.workspaceStatus?.item).toMatchObject([{ value: "<redacted>" }, { value: "bob" }]);
  const metadata = { DEPLOY_PASSWORD: "abc", CONFIG: '{"token":"abc","n":1}', ROLE: "CI" };
  expect(scrubbed({ buildMetadata: { metadata } }).buildMetadata?.metadata).toEqual({
    DEPLOY_PASSWORD: "<redacted>",
    CONFIG: '{"token":"<redacted>","n":1}',
    ROLE: "CI",
  });
  const environmentVariable = [{ name: Buffer.from("MY_SECRET"), value: Buffer.from("abc") }];
  const run = scrubbed({ execRequest: { environmentVariable } });
  expect(Buffer.from(run.execRequest?.environmentVariable?.[0]?.value ?? []).toString()).toBe("<redacted>");
  const flagPolicies = [
    { flagName: "bes_header", setValue: { flagValue: ["a=abc"] } },
    { flagName: "action_env", setValue: { flagValue: ["MY_TOKEN=abc", "CC=gcc"] } },
  ];
  expect(
    scrubbed({ optionsParsed: { invocationPolicy: { flagPolicies } } }).optionsParsed?.invocationPolicy,
  ).toMatchObject({
    flagPolicies: [
      { setValue: { flagValue: ["<redacted>"] } },
      { setValue: { flagValue: ["MY_TOKEN=<redacted>", "CC=gcc"] } },
    ],
  });
});

test.each(plantedSecrets)(
  "$kind is masked in inline files, URIs, failure messages and option descriptions",
  ({ text, secret }) => {
    const failureDetail = { message: text };
    const events: BepProperties[] = [
      { buildToolLogs: { log: [{ name: "log", contents: Buffer.from(text) }] } },
      { namedSetOfFiles: { files: [{ name: text, uri: text }] } },
      { action: { failureDetail, stderr: { contents: Buffer.from(text) }, stdout: { uri: text } } },
      { completed: { failureDetail, importantOutput: [{ uri: text }] } },
      { aborted: { description: text } },
      { testResult: { statusDetails: text, testActionOutput: [{ uri: text }] } },
      { started: { optionsDescription: text } },
      { progress: { stdout: text, stderr: text } },
      { id: { fetch: { url: text } }, fetch: { success: true } },
    ];
    for (const bep of events) {
      const {
        events: [bytes],
        log,
        rows,
      } = projectAll([bazelEvent(bep), streamFinished()]);
      for (const out of [bytes ?? new Uint8Array(0), rows, ...log])
        expect(survivor(out, secret)).toBeUndefined();
    }
  },
);

const foreignField = (content: string): Buffer => {
  const bytes = Buffer.from(content);
  // Field 1000, length-delimited.
  return Buffer.concat([Buffer.of(0xc2, 0x3e, bytes.length), bytes]);
};

test("in fields and messages that nobody knows, secrets are masked in place, and all lengths stay right", () => {
  const known = build_event_stream.BuildEvent.encode({ aborted: { description: "plain" } }).finish();
  const nested = foreignField(
    `\u000a\u0008plaintxt\u0012${String.fromCharCode(inText.length)}${inText}\u0018\u0005`,
  );
  for (const unknown of [foreignField(inText), nested]) {
    const events = [
      bazelEvent(Buffer.concat([unknown, known])),
      bazelEvent(Buffer.concat([known, unknown]), "type.googleapis.com/other.Event"),
      Buffer.concat([bazelEvent(known), unknown]),
    ];
    for (const event of events) {
      const out = scrub(event);
      expect(survivor(out, token)).toBeUndefined();
      expect(out.length).toBe(event.length);
      const differing = [...out].filter((byte, index) => byte !== event[index]).length;
      expect(differing).toBeLessThanOrEqual(token.length);
      expect(() => google.devtools.build.v1.BuildEvent.decode(out)).not.toThrow();
    }
  }
});

test("console output and status messages of other tools are rewritten", () => {
  const { BuildEvent } = google.devtools.build.v1;
  const event = BuildEvent.encode({ consoleOutput: { type: 1, textOutput: inText } }).finish();
  expect(BuildEvent.decode(scrub(event)).consoleOutput?.textOutput).toBe("cloning with <redacted> now");
});

test("deep nesting neither overflows the stack nor hides a secret", () => {
  let message = Buffer.from(
    build_event_stream.TestResult.ExecutionInfo.TimingBreakdown.encode({ name: inText }).finish(),
  );
  for (let depth = 0; depth < 2000; depth += 1) {
    message = Buffer.concat([Buffer.of(0x0a), varint(message.length), message]);
  }
  const info = Buffer.concat([Buffer.of(0x22), varint(message.length), message]);
  const result = Buffer.concat([Buffer.of(0x42), varint(info.length), info]);
  const bep = Buffer.concat([Buffer.of(0x52), varint(result.length), result]);
  expect(survivor(scrub(bazelEvent(bep)), token)).toBeUndefined();
});

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}
