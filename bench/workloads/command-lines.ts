import { assert } from "@millrace/base/assert";
import type { build_event_stream, command_line } from "@millrace/proto/gen/bep";
import type { PlantedSecrets } from "./planted-secrets.ts";
import type { BuildSketch } from "./sketch.ts";

type Bep = build_event_stream.BuildEvent.$Properties;
type Option = command_line.Option.$Properties;

/** A flag with where it came from: 1 is the system's bazelrc, 2 the workspace's; no number: it was typed. */
interface Flag {
  readonly name: string;
  readonly value: string;
  readonly rc?: string;
  /** Numbers of OptionEffectTag. */
  readonly effects: readonly number[];
}

const flag = (name: string, value: string | number, effects: number[], rc?: string): Flag => ({
  name,
  value: String(value),
  effects,
  ...(rc === undefined ? {} : { rc }),
});

function flagsOf(build: BuildSketch): Flag[] {
  const { chance, project, user } = build;
  const java = `/usr/lib/jvm/java-${chance.pick([17, 21, 25])}-openjdk-amd64`;
  return [
    flag("isatty", 1, [12], "0:common"),
    flag("terminal_columns", chance.between(80, 240), [12], "0:common"),
    flag("registry", `https://bcr.${project}.example.net/`, [3], "1:common"),
    flag("repository_cache", `/home/${user}/.cache/bazel/repos`, [3], "1:common"),
    flag("experimental_remote_cache_eviction_retries", 5, [8], "1:build"),
    flag("java_runtime_version", `remotejdk_${chance.pick([17, 21])}`, [6], "1:build"),
    flag("host_javabase", `@local_jdk//:${java.split("/").at(-1)}`, [6], "1:build"),
    flag("cxxopt", `-std=c++${chance.pick([17, 20, 23])}`, [13, 4], "1:build"),
    flag("copt", "-Wno-unused-parameter", [13, 4], "1:build"),
    flag("sandbox_base", `/dev/shm/${user}-${chance.hex(6)}`, [8, 9], "1:build"),
    flag("incompatible_strict_action_env", 1, [7], "2:build"),
    flag("remote_cache", `grpcs://cas.${project}.example.net:443`, [8], "2:build"),
    flag(
      "remote_executor",
      `grpcs://exec-${chance.between(1, 9)}.${project}.example.net:443`,
      [8],
      "2:build",
    ),
    flag("remote_instance_name", `main-${chance.hex(8)}`, [8], "2:build"),
    flag("remote_timeout", `${chance.between(30, 900)}s`, [8], "2:build"),
    flag("remote_download_outputs", "toplevel", [4], "2:build"),
    flag("disk_cache", `/home/${user}/.cache/bazel/disk`, [8], "2:build"),
    flag("jobs", chance.between(16, 400), [9, 8], "2:build"),
    flag("local_resources", `memory=${chance.between(8_000, 64_000)}`, [9], "2:build"),
    flag("test_output", "errors", [12, 14], "2:test"),
    flag("flaky_test_attempts", 2, [8], "2:test"),
    flag("test_timeout", `${chance.between(40, 80)},300,900,3600`, [14], "2:test"),
    flag("workspace_status_command", `${build.workspace}/tools/status.sh`, [4], "2:build"),
    flag("bes_backend", `grpcs://bes.${project}.example.net:1985`, [4]),
    flag("bes_results_url", `https://bes.${project}.example.net/i/`, [12]),
    flag("build_metadata", `COMMIT_SHA=${build.commit}`, [12]),
    flag("build_metadata", `BRANCH_NAME=${build.branch}`, [12]),
    flag("invocation_id", build.uuid, [11]),
    flag("profile", `${build.outputBase}/profile-${chance.hex(8)}.gz`, [4, 11]),
    flag("keep_going", 1, [10]),
    flag("color", "yes", [12]),
    flag("curses", "yes", [12]),
  ];
}

/** The client's environment, as Bazel passes it on. */
function environmentOf(build: BuildSketch, secrets: PlantedSecrets): [string, string][] {
  const { chance, user, host } = build;
  return [
    ["PATH", `/home/${user}/.local/bin:/home/${user}/go/bin:/usr/local/bin:/usr/bin:/bin`],
    ["HOME", `/home/${user}`],
    ["USER", user],
    ["HOSTNAME", host],
    ["LANG", chance.pick(["C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"])],
    ["TMPDIR", `/tmp/${user}.${chance.hex(10)}`],
    [
      "SSH_CONNECTION",
      `10.${chance.between(0, 255)}.${chance.between(0, 255)}.7 ${chance.between(30_000, 65_000)}`,
    ],
    ["GITHUB_RUN_ID", String(chance.between(1_000_000_000, 4_000_000_000))],
    ["GITHUB_SHA", build.commit],
    ["GITHUB_HEAD_REF", build.branch],
    ["DEPLOY_TOKEN", secrets.deployToken],
    ["GOPATH", `/home/${user}/go`],
    ["JOURNAL_STREAM", `8:${chance.between(10_000, 9_000_000)}`],
  ];
}

/** The events that tell the command line: raw, parsed, and as typed, as understood and as a tool tells it. */
export function commandLineEvents(
  build: BuildSketch,
  secrets: PlantedSecrets,
): {
  readonly unstructured: Bep;
  readonly parsed: Bep;
  readonly structured: readonly Bep[];
} {
  const flags = flagsOf(build);
  const environment = environmentOf(build, secrets);
  const typed = flags.filter(({ rc }) => rc === undefined).map(spell);
  const passedOn = [
    `--startup_time=${build.chance.between(3, 4_000)}`,
    "--rc_source=client",
    "--rc_source=/etc/bazel.bazelrc",
    `--rc_source=${build.workspace}/.bazelrc`,
    ...flags.flatMap((one) => (one.rc === undefined ? [] : [`--default_override=${one.rc}=${spell(one)}`])),
    ...environment.map(([name, value]) => `--client_env=${name}=${value}`),
    `--client_cwd=${build.workspace}`,
  ];
  const startup = startupOptions(build);
  return {
    unstructured: {
      id: { unstructuredCommandLine: {} },
      unstructuredCommandLine: { args: [command, ...passedOn, ...typed, ...build.patterns] },
    },
    parsed: {
      id: { optionsParsed: {} },
      optionsParsed: {
        startupOptions: startup,
        explicitStartupOptions: startup.slice(0, 1),
        cmdLine: flags.map(spell),
        explicitCmdLine: typed,
        toolTag: "",
      },
    },
    structured: structuredEvents(build, { flags, passedOn, startup }),
  };
}

/** The command of every build here: one that has tests. */
export const command = "test";

const spell = ({ name, value }: Flag): string => `--${name}=${value}`;

function startupOptions(build: BuildSketch): string[] {
  return [
    `--output_user_root=/home/${build.user}/.cache/bazel/_bazel_${build.user}`,
    `--output_base=${build.outputBase}`,
    `--failure_detail_out=${build.outputBase}/failure_detail.rawproto`,
    `--install_base=/home/${build.user}/.cache/bazel/_bazel_${build.user}/install/${build.chance.hex(32)}`,
    `--max_idle_secs=${build.chance.between(600, 10_800)}`,
    "--idle_server_tasks",
    "--write_command_log",
  ];
}

function structuredEvents(
  build: BuildSketch,
  of: { flags: readonly Flag[]; passedOn: readonly string[]; startup: readonly string[] },
): Bep[] {
  const original = of.passedOn.map((text) => optionOf(text, { effectTags: [3], metadataTags: [3] }));
  const typed = of.flags.filter(({ rc }) => rc === undefined);
  const canonical = of.flags.map((one) =>
    flagOption(one, one.rc === undefined ? "" : sourceOf(build, one.rc)),
  );
  const kept = original.filter(({ optionName }) => optionName === "client_env");
  const startup = of.startup.map((text) => optionOf(text, { effectTags: [4, 2] }));
  return [
    commandLine(build, {
      label: "original",
      startup,
      options: [...original, ...typed.map((one) => flagOption(one, ""))],
    }),
    commandLine(build, { label: "canonical", startup, options: [...kept, ...canonical] }),
    { id: { structuredCommandLine: { commandLineLabel: "tool" } }, structuredCommandLine: {} },
  ];
}

function commandLine(
  build: BuildSketch,
  of: { label: string; startup: readonly Option[]; options: readonly Option[] },
): Bep {
  return {
    id: { structuredCommandLine: { commandLineLabel: of.label } },
    structuredCommandLine: {
      commandLineLabel: of.label,
      sections: [
        { sectionLabel: "executable", chunkList: { chunk: ["bazel"] } },
        { sectionLabel: "startup options", optionList: { option: [...of.startup] } },
        { sectionLabel: "command", chunkList: { chunk: [command] } },
        { sectionLabel: "command options", optionList: { option: [...of.options] } },
        { sectionLabel: "residual", chunkList: { chunk: [...build.patterns] } },
      ],
    },
  };
}

function flagOption(one: Flag, source: string): Option {
  return {
    combinedForm: spell(one),
    optionName: one.name,
    optionValue: one.value,
    effectTags: [...one.effects],
    source,
  };
}

/** `--name=value` taken apart. */
function optionOf(text: string, tags: Pick<Option, "effectTags" | "metadataTags">): Option {
  const [, optionName, optionValue = "1"] = /^--([a-z_]+)(?:=(.*))?$/.exec(text) ?? [];
  assert(optionName !== undefined, `${text} is an option`);
  return { combinedForm: text, optionName, optionValue, ...tags };
}

function sourceOf(build: BuildSketch, rc: string): string {
  return rc.startsWith("2") ? `${build.workspace}/.bazelrc` : "/etc/bazel.bazelrc";
}
