import type { build_event_stream } from "@millrace/proto/gen/bep";
import { timestamp } from "./opening-events.ts";
import { type BuildSketch, type FileSketch, type TargetSketch, uriOf } from "./sketch.ts";
import { packagePath } from "./vocabulary.ts";

type Bep = build_event_stream.BuildEvent.$Properties;
type BepFile = build_event_stream.File.$Properties;

const outputRoot = ["bazel-out", "k8-fastbuild", "bin"];

function completedId(target: TargetSketch): build_event_stream.BuildEventId.$Properties {
  return { targetCompleted: { label: target.label, configuration: { id: target.configuration } } };
}

export function configuredEvent(target: TargetSketch): Bep {
  return {
    id: { targetConfigured: { label: target.label } },
    children: [completedId(target)],
    configured: { targetKind: target.rule.rule, testSize: target.testSize, tag: [...target.tags] },
  };
}

/** The files of a target, and the set of what it is made from: sets form a DAG. */
export function namedSetEvent(
  build: BuildSketch,
  of: { id: string; files: readonly FileSketch[]; parts: readonly string[] },
): Bep {
  return {
    id: { namedSet: { id: of.id } },
    namedSetOfFiles: {
      files: of.files.map((file) => bepFile(build, file)),
      fileSets: of.parts.map((id) => ({ id })),
    },
  };
}

export function completedEvent(build: BuildSketch, target: TargetSketch, namedSets: readonly string[]): Bep {
  if (target.fails) return failedEvent(target);
  return {
    id: completedId(target),
    completed: {
      success: true,
      outputGroup:
        namedSets.length > 0 ? [{ name: "default", fileSets: namedSets.map((id) => ({ id })) }] : [],
      tag: [...target.tags],
      importantOutput: target.files.map((file) => bepFile(build, file)),
      ...(target.testSize === 0 ? {} : { testTimeoutSeconds: 300, testTimeout: { seconds: 300, nanos: 0 } }),
    },
  };
}

function failedEvent(target: TargetSketch): Bep {
  const message = `${target.rule.mnemonic} of ${target.label} failed: (Exit 1): process-wrapper failed: error executing command`;
  return {
    id: completedId(target),
    children: [actionId(target)],
    completed: { success: false, tag: [...target.tags], failureDetail: { message } },
  };
}

function actionId(target: TargetSketch): build_event_stream.BuildEventId.$Properties {
  const { label, configuration, files } = target;
  const primaryOutput = `${outputRoot.join("/")}/${files[0]?.name}`;
  return { actionCompleted: { primaryOutput, label, configuration: { id: configuration } } };
}

/** An action, as --build_event_publish_all_actions tells of all. */
export function actionEvent(build: BuildSketch, target: TargetSketch): Bep {
  const { chance, startMs } = build;
  const fromMs = startMs + 1_000 + chance.between(0, 60_000);
  const source = `${target.directory}/${target.name}.cc`;
  const object = `${outputRoot.join("/")}/${target.directory}/_objs/${target.name}/${target.name}.pic.o`;
  const printed = { digest: chance.hex(64), length: chance.between(10, 40_000) };
  return {
    id: actionId(target),
    action: {
      success: !target.fails,
      exitCode: target.fails ? 1 : 0,
      label: target.label,
      configuration: { id: target.configuration },
      type: target.rule.mnemonic,
      commandLine: [
        ...["/usr/bin/gcc", "-Wall", "-MD", "-MF", object.replace(/o$/, "d"), "-iquote", ".", "-c", source],
        ...["-o", object],
      ],
      stderr: { name: "stderr", uri: `${build.blobs}/${printed.digest}/${printed.length}`, ...printed },
      primaryOutput: { uri: `${build.blobs}/${chance.hex(64)}/${chance.between(900, 900_000)}` },
      startTime: { ...timestamp(fromMs), nanos: chance.between(0, 999_999_999) },
      endTime: { ...timestamp(fromMs + chance.between(3, 9_000)), nanos: chance.between(0, 999_999_999) },
    },
  };
}

/** A target that the patterns matched and the platform excludes. */
export function skippedEvent(build: BuildSketch): Bep {
  const label = `//${packagePath(build.chance)}:windows_only_${build.chance.between(1, 99)}`;
  const description = `Target ${label} is incompatible and was skipped: didn't satisfy constraint @platforms//os:windows`;
  return {
    id: { targetCompleted: { label, configuration: { id: build.configurations[0] } } },
    aborted: { reason: 7, description },
  };
}

function bepFile(build: BuildSketch, file: FileSketch): BepFile {
  const { name, digest, length } = file;
  return { name, uri: uriOf(build, file), pathPrefix: [...outputRoot], digest, length };
}
