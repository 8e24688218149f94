import { Chance } from "./chance.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import type { Recipe } from "./recipe.ts";
import {
  identifier,
  libraryRules,
  packagePath,
  person,
  project,
  type RuleKind,
  testRules,
} from "./vocabulary.ts";
import type { WorkloadName } from "./workload.ts";

/** A build in the making: what its events have in common. */
export interface BuildSketch {
  readonly recipe: Recipe;
  readonly chance: Chance;
  readonly outcome: Outcome;
  readonly uuid: string;
  readonly startMs: number;
  readonly user: string;
  readonly host: string;
  readonly serverPid: number;
  readonly project: string;
  /** `/home/ann/src/atlas` */
  readonly workspace: string;
  readonly outputBase: string;
  readonly execRoot: string;
  readonly commit: string;
  readonly branch: string;
  /** `bytestream://cas.example.net/main/blobs` */
  readonly blobs: string;
  /** Ids of configurations; the first is that of most targets. */
  readonly configurations: readonly [string, ...string[]];
  readonly patterns: readonly string[];
  readonly targets: readonly TargetSketch[];
}

export interface TargetSketch {
  readonly label: string;
  /** Path of its package. */
  readonly directory: string;
  readonly name: string;
  readonly rule: RuleKind;
  readonly configuration: string;
  /** TestSize; 0 for what is no test. */
  readonly testSize: number;
  readonly tags: readonly string[];
  readonly fails: boolean;
  readonly files: readonly FileSketch[];
}

export interface FileSketch {
  /** Below the directory for outputs. */
  readonly name: string;
  readonly digest: string;
  readonly length: number;
}

// 2026-06-01, before anything is measured: a build's own times must not depend on when it is uploaded.
const epochMs = 1_780_300_000_000;
const betweenBuildsMs = 977_123;

/** The build that a seed of a workload stands for. `targetName` makes names unique where there are very many. */
export function sketchBuild(of: {
  readonly workload: WorkloadName;
  readonly recipe: Recipe;
  readonly variant: number;
  readonly targetName?: (index: number, name: string) => string;
}): BuildSketch {
  const { workload, recipe, variant, targetName } = of;
  const chance = new Chance({ tiny: 1_000, real: 2_000, huge: 3_000, log: 4_000 }[workload] + variant);
  const user = person(chance);
  const name = project(chance);
  const outputBase = `/home/${user}/.cache/bazel/_bazel_${user}/${chance.hex(32)}`;
  const configurations = [chance.hex(64), chance.hex(64), chance.hex(64)] as const;
  const outcome = outcomeOf(variant);
  const labels = new Set<string>();
  const targets = Array.from({ length: recipe.configured }, (_, index) => {
    const target = sketchTarget(chance, {
      isTest: index >= recipe.configured - recipe.testSummary,
      fails: outcome.kind === "build-failed" && index === 0,
      configuration: chance.between(1, 12) === 1 ? configurations[1] : configurations[0],
      rename: (text) => targetName?.(index, text) ?? text,
    });
    const isTaken = labels.has(target.label);
    labels.add(target.label);
    return isTaken ? { ...target, label: `${target.label}_${index}` } : target;
  });
  return {
    recipe,
    chance,
    outcome,
    uuid: chance.uuid(),
    startMs: epochMs + variant * betweenBuildsMs + chance.between(0, 900_000),
    user,
    host: `build-${chance.between(1, 40)}.corp.example.net`,
    serverPid: chance.between(1_200, 4_000_000),
    project: name,
    workspace: `/home/${user}/src/${name}`,
    outputBase,
    execRoot: `${outputBase}/execroot/_main`,
    commit: chance.hex(40),
    branch: `${user}/${identifier(chance)}-${chance.between(100, 9_999)}`,
    blobs: `bytestream://cas.${name}.example.net/main/blobs`,
    configurations,
    patterns: [
      `//${targets[0]?.directory.split("/")[0] ?? "services"}/...`,
      "//...",
      `-//${packagePath(chance)}/...`,
    ],
    targets,
  };
}

function sketchTarget(
  chance: Chance,
  of: { isTest: boolean; fails: boolean; configuration: string; rename: (name: string) => string },
): TargetSketch {
  const directory = packagePath(chance);
  const rule = chance.pick(of.isTest ? testRules : libraryRules);
  const name = of.rename(`${identifier(chance)}${of.isTest ? "_test" : ""}`);
  const files = rule.outputs.map((output) => ({
    name: `${directory}/${output.replaceAll("<name>", name)}`,
    digest: chance.hex(64),
    length: chance.between(180, 9_000_000),
  }));
  return {
    label: `//${directory}:${name}`,
    directory,
    name,
    rule,
    configuration: of.configuration,
    testSize: of.isTest ? chance.between(1, 3) : 0,
    tags: of.isTest && chance.between(1, 3) === 1 ? ["requires-network", "no-sandbox"] : [],
    fails: of.fails,
    files,
  };
}

/** Where an output lies, in a URI of the remote cache as Bazel writes it into events. */
export function uriOf(build: BuildSketch, file: FileSketch): string {
  return `${build.blobs}/${file.digest}/${file.length}`;
}
