import type { BepEvent } from "@millrace/proto/bep/kind";
import { readUnstructuredCommandLine } from "@millrace/proto/bep/readers/command-line";
import {
  readBuildMetadata,
  readConfiguration,
  readWorkspaceStatus,
} from "@millrace/proto/bep/readers/surroundings";
import type { IInvocationPatch } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { presentText } from "./present.ts";

type TextField = "user" | "host" | "branch" | "commit" | "repositoryUrl" | "role";

/** Keys that workspace status scripts and --build_metadata commonly use, and what they tell. */
const knownKeys: Readonly<Record<string, TextField>> = {
  BUILD_USER: "user",
  USER: "user",
  BUILD_HOST: "host",
  HOST: "host",
  COMMIT_SHA: "commit",
  GIT_COMMIT: "commit",
  STABLE_GIT_COMMIT: "commit",
  BUILD_SCM_REVISION: "commit",
  STABLE_BUILD_SCM_REVISION: "commit",
  BRANCH_NAME: "branch",
  GIT_BRANCH: "branch",
  STABLE_GIT_BRANCH: "branch",
  BUILD_SCM_BRANCH: "branch",
  REPO_URL: "repositoryUrl",
  ROLE: "role",
};

/** Variables of CI systems as `--client_env` shows them. */
const knownVariables: Readonly<Record<string, TextField>> = {
  GITHUB_SHA: "commit",
  GITHUB_HEAD_REF: "branch",
  GITHUB_REF_NAME: "branch",
  CI_COMMIT_SHA: "commit",
  CI_COMMIT_BRANCH: "branch",
  CI_COMMIT_REF_NAME: "branch",
  BUILDKITE_COMMIT: "commit",
  BUILDKITE_BRANCH: "branch",
  BUILDKITE_REPO: "repositoryUrl",
  CIRCLE_SHA1: "commit",
  CIRCLE_BRANCH: "branch",
};

export function workspaceStatusRows(event: BepEvent, rows: RowsBuilder): boolean {
  const items = readWorkspaceStatus(event);
  if (isMalformed(items)) return false;
  patchKnown(items, { names: knownKeys, rows });
  return true;
}

export function buildMetadataRows(event: BepEvent, rows: RowsBuilder): boolean {
  const metadata = readBuildMetadata(event);
  if (isMalformed(metadata)) return false;
  const items = [...metadata].map(([key, value]) => ({ key, value }));
  patchKnown(items, { names: knownKeys, rows });
  return true;
}

const clientEnvironment = "--client_env=";

/** Of the caller's environment only what names branch, commit and repository; the rest stays in the raw event. */
export function commandLineRows(event: BepEvent, rows: RowsBuilder): boolean {
  const args = readUnstructuredCommandLine(event);
  if (isMalformed(args)) return false;
  const items = args.flatMap((arg) => {
    if (!arg.startsWith(clientEnvironment)) return [];
    const equals = arg.indexOf("=", clientEnvironment.length);
    if (equals === -1) return [];
    return [{ key: arg.slice(clientEnvironment.length, equals), value: arg.slice(equals + 1) }];
  });
  patchKnown(items, { names: knownVariables, rows });
  return true;
}

/** The configuration that targets are built in; those of tools say nothing about the build. */
export function configurationRows(event: BepEvent, rows: RowsBuilder): boolean {
  const configuration = readConfiguration(event);
  if (isMalformed(configuration)) return false;
  if (configuration.isTool || configuration.mnemonic.includes("-exec-")) return true;
  rows.patchInvocation({
    ...presentText("cpu", configuration.cpu),
    ...presentText("platform", configuration.platformName),
  });
  return true;
}

function patchKnown(
  items: readonly { key: string; value: string }[],
  how: { names: Readonly<Record<string, TextField>>; rows: RowsBuilder },
): void {
  let patch: IInvocationPatch = {};
  for (const { key, value } of items) {
    const field = how.names[key];
    if (field !== undefined) patch = { ...patch, ...presentText(field, value) };
  }
  if (Object.keys(patch).length > 0) how.rows.patchInvocation(patch);
}
