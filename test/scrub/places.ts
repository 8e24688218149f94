import { type BepProperties, bazelEvent, progressEvent } from "@millrace/actors/project/project-all.fixture";
import type { PlantedSecret } from "@millrace/actors/scrub/secrets.fixture";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";

/** Somewhere in a stream where a secret may stand. */
export interface Place {
  readonly name: string;
  /** The events that hold it there, as `google.devtools.build.v1.BuildEvent`s. */
  readonly plant: (secret: PlantedSecret) => readonly Uint8Array[];
}

const { BuildEvent } = google.devtools.build.v1;
const bytes = (text: string): Buffer => Buffer.from(text);

function bep(name: string, plant: (secret: PlantedSecret) => BepProperties): Place {
  return { name, plant: (secret) => [bazelEvent(plant(secret))] };
}

/** A list of arguments that has the secret as an argument by itself, and as value of flags that give it away. */
function argumentsWith({ text, material }: PlantedSecret): string[] {
  return [
    "//:all",
    text,
    `--bes_header=x-key=${material}`,
    "--remote_header",
    `x-key=${material}`,
    `--client_env=MY_TOKEN=${material}`,
    "--action_env",
    `DB_PASSWORD=${material}`,
    `--default_override=1:build=--repo_env=API_KEY=${material}`,
    "--keep_going",
  ];
}

function structured(label: string): Place {
  return bep(`structured command line, ${label}`, (secret) => ({
    id: { structuredCommandLine: { commandLineLabel: label } },
    structuredCommandLine: {
      commandLineLabel: label,
      sections: [
        { sectionLabel: "residual", chunkList: { chunk: argumentsWith(secret) } },
        {
          sectionLabel: "command options",
          optionList: {
            option: [
              { combinedForm: secret.text, optionName: "x", optionValue: secret.text, source: secret.text },
              optionOf("bes_header", `x-key=${secret.material}`),
              optionOf("test_env", `MY_SECRET=${secret.material}`),
              optionOf("remote_cache", `grpcs://user:${encodeURIComponent(secret.material)}@h:1`),
            ],
          },
        },
      ],
    },
  }));
}

function optionOf(optionName: string, optionValue: string): Record<string, string> {
  return { combinedForm: `--${optionName}=${optionValue}`, optionName, optionValue };
}

function fileOf({ text }: PlantedSecret): build_event_stream.File.$Properties[] {
  return [
    { name: text, uri: `file:///${text}`, pathPrefix: [text], symlinkTargetPath: text },
    { name: "inline", contents: bytes(`first line\n${text}\nlast line\n`) },
  ];
}

const commandLines: readonly Place[] = [
  bep("unstructured command line", (secret) => ({
    id: { unstructuredCommandLine: {} },
    unstructuredCommandLine: { args: argumentsWith(secret) },
  })),
  structured("original"),
  structured("canonical"),
  structured("tool"),
  bep("options", (secret) => ({
    id: { optionsParsed: {} },
    optionsParsed: {
      startupOptions: argumentsWith(secret),
      explicitStartupOptions: argumentsWith(secret),
      cmdLine: argumentsWith(secret),
      explicitCmdLine: argumentsWith(secret),
      toolTag: secret.text,
      invocationPolicy: {
        flagPolicies: [
          { flagName: "bes_header", setValue: { flagValue: [`a=${secret.material}`] } },
          { flagName: "action_env", setValue: { flagValue: [`MY_TOKEN=${secret.material}`, secret.text] } },
        ],
      },
    },
  })),
];

const surroundings: readonly Place[] = [
  bep("started", ({ text }) => ({
    id: { started: {} },
    started: { optionsDescription: text, workingDirectory: text, user: text, host: text, command: "build" },
  })),
  bep("workspace status", ({ text, material }) => ({
    id: { workspaceStatus: {} },
    workspaceStatus: {
      item: [
        { key: "STABLE_NOTE", value: text },
        { key: "STABLE_API_TOKEN", value: material },
        { key: "BUILD_USER", value: text },
      ],
    },
  })),
  bep("build metadata", ({ text, material }) => ({
    id: { buildMetadata: {} },
    buildMetadata: { metadata: { NOTE: text, DEPLOY_PASSWORD: material, BRANCH_NAME: text, REPO_URL: text } },
  })),
  bep("build metadata, JSON in its values", ({ text, material }) => ({
    id: { buildMetadata: {} },
    buildMetadata: {
      metadata: {
        NESTED: JSON.stringify({ token: material, deep: JSON.stringify({ apiKey: material, n: 1 }) }),
        LIST: JSON.stringify([{ password: material }, { note: text }]),
      },
    },
  })),
  bep("configuration", ({ text, material }) => ({
    id: { configuration: { id: "planted" } },
    configuration: {
      mnemonic: text,
      platformName: text,
      cpu: text,
      makeVariable: { A: text, MY_TOKEN: material },
    },
  })),
  bep("workspace info", ({ text }) => ({ id: { workspace: {} }, workspaceInfo: { localExecRoot: text } })),
  bep("exec request", ({ text, material, ...rest }) => ({
    id: { execRequest: {} },
    execRequest: {
      workingDirectory: bytes(text),
      argv: argumentsWith({ text, material, ...rest }).map(bytes),
      environmentVariable: [
        { name: bytes("MY_SECRET"), value: bytes(material) },
        { name: bytes("NOTE"), value: bytes(text) },
      ],
    },
  })),
];

const console_: readonly Place[] = [
  { name: "progress, stdout", plant: ({ text }) => [progressEvent({ stdout: `a\n${utf8(text)}\nb\n` })] },
  { name: "progress, stderr", plant: ({ text }) => [progressEvent({ stderr: `a\n${utf8(text)}\nb\n` })] },
  {
    name: "console output of another tool",
    plant: ({ text }) => [
      Uint8Array.from(BuildEvent.encode({ consoleOutput: { type: 1, textOutput: text } }).finish()),
      Uint8Array.from(BuildEvent.encode({ consoleOutput: { type: 2, binaryOutput: bytes(text) } }).finish()),
    ],
  },
];

/** Progress texts are given as one character per byte. */
function utf8(text: string): string {
  return bytes(text).toString("latin1");
}

const results: readonly Place[] = [
  bep("build tool logs", (secret) => ({ id: { buildToolLogs: {} }, buildToolLogs: { log: fileOf(secret) } })),
  bep("action", (secret) => {
    const [file, inline] = fileOf(secret);
    return {
      id: { actionCompleted: { primaryOutput: secret.text, label: "//planted:action" } },
      action: {
        type: "Planted",
        commandLine: argumentsWith(secret),
        stdout: inline ?? {},
        stderr: file ?? {},
        primaryOutput: file ?? {},
        failureDetail: { message: secret.text },
      },
    };
  }),
  bep("test result", (secret) => ({
    id: { testResult: { label: "//planted:test", run: 1, shard: 1, attempt: 1 } },
    testResult: {
      status: 4,
      statusDetails: secret.text,
      testActionOutput: fileOf(secret),
      warning: [secret.text],
      executionInfo: {
        strategy: secret.text,
        hostname: secret.text,
        timingBreakdown: { name: secret.text, child: [{ name: secret.text }] },
      },
    },
  })),
  bep("test summary", (secret) => ({
    id: { testSummary: { label: "//planted:test" } },
    testSummary: { overallStatus: 4, totalRunCount: 1, passed: fileOf(secret), failed: fileOf(secret) },
  })),
  bep("test progress", ({ text }) => ({
    id: { testProgress: { label: "//planted:test" } },
    testProgress: { uri: text },
  })),
  bep("named set of files", (secret) => ({
    id: { namedSet: { id: "planted" } },
    namedSetOfFiles: { files: fileOf(secret) },
  })),
  bep("target", (secret) => ({
    id: { targetCompleted: { label: "//planted:target" } },
    completed: {
      success: false,
      tag: [secret.text],
      importantOutput: fileOf(secret),
      directoryOutput: fileOf(secret),
      outputGroup: [{ name: secret.text, inlineFiles: fileOf(secret) }],
      failureDetail: { message: secret.text },
    },
  })),
  bep("aborted", ({ text }) => ({
    id: { targetCompleted: { label: "//planted:aborted" } },
    aborted: { reason: 2, description: text },
  })),
  bep("finished", ({ text }) => ({
    id: { buildFinished: {} },
    finished: { exitCode: { name: text, code: 1 }, failureDetail: { message: text } },
  })),
  bep("convenience symlinks", ({ text }) => ({
    id: { convenienceSymlinksIdentified: {} },
    convenienceSymlinksIdentified: { convenienceSymlinks: [{ path: text, target: text }] },
  })),
  bep("metrics", ({ text }) => ({
    id: { buildMetrics: {} },
    buildMetrics: {
      actionSummary: { actionData: [{ mnemonic: text }], runnerCount: [{ name: text, count: 1 }] },
    },
  })),
];

const names: readonly Place[] = [
  bep("fetch", ({ text }) => ({ id: { fetch: { url: text } }, fetch: { success: false } })),
  bep("patterns", ({ text }) => ({
    id: { pattern: { pattern: [text] } },
    expanded: { testSuiteExpansions: [{ suiteLabel: text, testLabels: [text] }] },
    children: [{ targetConfigured: { label: text } }, { unconfiguredLabel: { label: text } }],
  })),
  bep("label", ({ text }) => ({
    id: { targetConfigured: { label: `//planted:${text}` } },
    configured: { targetKind: text, tag: [text] },
  })),
];

const otherTools: readonly Place[] = [
  {
    name: "event of another tool",
    plant: ({ text }) => [
      bazelEvent(
        build_event_stream.BuildEvent.encode({ aborted: { description: text } }).finish(),
        "type.googleapis.com/other.Tool",
      ),
    ],
  },
  {
    name: "unknown field and unknown payload",
    plant: ({ text }) => {
      const known = build_event_stream.BuildEvent.encode({ id: { started: {} } }).finish();
      return [1000, 99].map((field) => bazelEvent(Buffer.concat([known, delimited(field, text)])));
    },
  },
  {
    name: "payload that cannot be decoded",
    // Progress and an action whose last field is cut off, or for a long secret ends within it.
    plant: ({ text }) => [3, 7].map((field) => bazelEvent(delimited(field, `\u0012\u007f${text}`))),
  },
  {
    name: "status messages in the stream",
    plant: ({ text }) => [
      Uint8Array.from(
        BuildEvent.encode({ buildFinished: { status: { result: 2, errorMessage: text } } }).finish(),
      ),
      Uint8Array.from(
        BuildEvent.encode({
          invocationAttemptFinished: { invocationStatus: { errorMessage: text } },
        }).finish(),
      ),
      Uint8Array.from(
        BuildEvent.encode({ sourceFetchEvent: { type_url: "x", value: bytes(text) } }).finish(),
      ),
    ],
  },
];

function delimited(field: number, text: string): Buffer {
  const content = bytes(text);
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>= 7) out.push((rest & 127) | 128);
  return Buffer.from([...out, rest]);
}

const largeBytes = 1_200_000;

/** Places in events of more than a megabyte, which take a way of their own. */
export const largePlaces: readonly Place[] = [
  {
    name: "inline contents of a large event",
    plant: ({ text }) => {
      const line = "nothing in here is worth hiding\n";
      const contents = bytes(`${line.repeat(largeBytes / line.length)}${text}\n${line}`);
      return [
        bazelEvent({ id: { buildToolLogs: {} }, buildToolLogs: { log: [{ name: "large", contents }] } }),
      ];
    },
  },
];

/** Every other place in which a secret is planted. */
export const places: readonly Place[] = [
  ...commandLines,
  ...surroundings,
  ...console_,
  ...results,
  ...names,
  ...otherTools,
];
