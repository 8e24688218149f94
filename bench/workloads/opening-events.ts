import type { build_event_stream } from "@millrace/proto/gen/bep";
import { command } from "./command-lines.ts";
import type { BuildSketch } from "./sketch.ts";

type Bep = build_event_stream.BuildEvent.$Properties;

/** A time of milliseconds, in BEP's newer form. */
export function timestamp(ms: number): { seconds: number; nanos: number } {
  return { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 };
}

export function startedEvent(
  build: BuildSketch,
  announced: readonly build_event_stream.BuildEventId.$Properties[],
): Bep {
  const { startMs, chance, workspace } = build;
  return {
    id: { started: {} },
    children: [...announced],
    started: {
      uuid: build.uuid,
      startTimeMillis: startMs,
      startTime: timestamp(startMs),
      buildToolVersion: chance.pick(["7.7.1", "8.4.2", "8.5.0", "9.0.1"]),
      optionsDescription: `--keep_going --bes_backend=grpcs://bes.${build.project}.example.net:1985 --invocation_id=${build.uuid}`,
      command,
      workingDirectory: workspace,
      workspaceDirectory: workspace,
      serverPid: build.serverPid,
      host: build.host,
      user: build.user,
    },
  };
}

export function buildMetadataEvent(build: BuildSketch): Bep {
  const metadata = {
    COMMIT_SHA: build.commit,
    BRANCH_NAME: build.branch,
    REPO_URL: `https://git.${build.project}.example.net/${build.project}.git`,
    ROLE: build.chance.pick(["CI", "", "CI"]),
    USER: build.user,
  };
  return { id: { buildMetadata: {} }, buildMetadata: { metadata } };
}

/** The event that resolves the patterns announces all targets: by far the largest of a huge build, as Bazel's is. */
export function expandedEvent(build: BuildSketch, labels: Iterable<string>): Bep {
  return {
    id: { pattern: { pattern: [...build.patterns] } },
    children: Array.from(labels, (label) => ({ targetConfigured: { label } })),
    expanded: {},
  };
}

export function workspaceInfoEvent(build: BuildSketch): Bep {
  return { id: { workspace: {} }, workspaceInfo: { localExecRoot: build.execRoot } };
}

export function workspaceStatusEvent(build: BuildSketch): Bep {
  const item = [
    { key: "BUILD_EMBED_LABEL", value: "" },
    { key: "BUILD_HOST", value: build.host },
    { key: "BUILD_TIMESTAMP", value: String(Math.floor(build.startMs / 1_000)) },
    { key: "BUILD_USER", value: build.user },
    { key: "FORMATTED_DATE", value: new Date(build.startMs).toUTCString() },
    { key: "STABLE_SCM_REVISION", value: build.commit },
    { key: "STABLE_SCM_BRANCH", value: build.branch },
  ];
  return { id: { workspaceStatus: {} }, workspaceStatus: { item } };
}

const modes = ["fastbuild", "opt", "dbg"] as const;

export function configurationEvents(build: BuildSketch): Bep[] {
  return build.configurations.slice(0, build.recipe.configuration).map((id, index) => {
    const mode = modes[index] ?? "fastbuild";
    const out = `bazel-out/k8-${mode}${index === 0 ? "" : `-ST-${build.chance.hex(12)}`}/bin`;
    return {
      id: { configuration: { id } },
      configuration: {
        mnemonic: out.split("/")[1] ?? "",
        platformName: "k8",
        cpu: "k8",
        makeVariable: { COMPILATION_MODE: mode, TARGET_CPU: "k8", GENDIR: out, BINDIR: out },
        isTool: index === 1,
      },
    };
  });
}

export function fetchEvents(build: BuildSketch): Bep[] {
  const { chance, project, recipe } = build;
  return Array.from({ length: recipe.fetch }, () => {
    const archive = `${chance.pick(["rules_cc", "rules_go", "abseil-cpp", "protobuf", "zlib"])}-${chance.between(0, 9)}.${chance.between(0, 40)}`;
    const url = `https://mirror.${project}.example.net/${chance.hex(64)}/${archive}.tar.gz`;
    return { id: { fetch: { url, downloader: 1 } }, fetch: { success: true } };
  });
}
