import { readEventId } from "@millrace/proto/bep/event-id";
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
import { isKey, presentText, storable, storableObject, textOrNull } from "./present.ts";

type TextField = "user" | "host" | "branch" | "commit" | "repositoryUrl" | "role";

/** Names and what they tell, the best first: what a build says of itself comes before what a CI system sets. */
type KnownNames = ReadonlyMap<string, TextField>;

/** Keys that workspace status scripts and --build_metadata commonly use. */
const knownKeys: KnownNames = new Map([
  ["USER", "user"],
  ["BUILD_USER", "user"],
  ["HOST", "host"],
  ["BUILD_HOST", "host"],
  ["COMMIT_SHA", "commit"],
  ["GIT_COMMIT", "commit"],
  ["STABLE_GIT_COMMIT", "commit"],
  ["STABLE_BUILD_SCM_REVISION", "commit"],
  ["BUILD_SCM_REVISION", "commit"],
  ["BRANCH_NAME", "branch"],
  ["GIT_BRANCH", "branch"],
  ["STABLE_GIT_BRANCH", "branch"],
  ["BUILD_SCM_BRANCH", "branch"],
  ["REPO_URL", "repositoryUrl"],
  ["BUILD_SCM_REMOTE", "repositoryUrl"],
  ["ROLE", "role"],
]);

/** Variables of CI systems as `--client_env` shows them. Of a pull request its own branch, not that of the merge. */
const knownVariables: KnownNames = new Map([
  ["GITHUB_SHA", "commit"],
  ["CI_COMMIT_SHA", "commit"],
  ["BUILDKITE_COMMIT", "commit"],
  ["CIRCLE_SHA1", "commit"],
  ["BITBUCKET_COMMIT", "commit"],
  ["TRAVIS_COMMIT", "commit"],
  ["BUILD_SOURCEVERSION", "commit"],
  ["GIT_COMMIT", "commit"],
  ["GITHUB_HEAD_REF", "branch"],
  ["GITHUB_REF_NAME", "branch"],
  ["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "branch"],
  ["CI_COMMIT_BRANCH", "branch"],
  ["CI_COMMIT_REF_NAME", "branch"],
  ["BUILDKITE_BRANCH", "branch"],
  ["CIRCLE_BRANCH", "branch"],
  ["BITBUCKET_BRANCH", "branch"],
  ["TRAVIS_PULL_REQUEST_BRANCH", "branch"],
  ["TRAVIS_BRANCH", "branch"],
  ["BUILD_SOURCEBRANCHNAME", "branch"],
  ["GIT_BRANCH", "branch"],
  ["CI_PROJECT_URL", "repositoryUrl"],
  ["CI_REPOSITORY_URL", "repositoryUrl"],
  ["BUILDKITE_REPO", "repositoryUrl"],
  ["CIRCLE_REPOSITORY_URL", "repositoryUrl"],
  ["BITBUCKET_GIT_HTTP_ORIGIN", "repositoryUrl"],
  ["BUILD_REPOSITORY_URI", "repositoryUrl"],
  ["GIT_URL", "repositoryUrl"],
]);

export function workspaceStatusRows(event: BepEvent, rows: RowsBuilder): boolean {
  const items = readWorkspaceStatus(event);
  if (isMalformed(items)) return false;
  patchKnown(items, { names: knownKeys, rows });
  if (items.length > 0) {
    rows.patchDetails({ workspaceStatus: storableObject(items.map(({ key, value }) => [key, value])) });
  }
  return true;
}

export function buildMetadataRows(event: BepEvent, rows: RowsBuilder): boolean {
  const metadata = readBuildMetadata(event);
  if (isMalformed(metadata)) return false;
  const items = [...metadata].map(([key, value]) => ({ key, value }));
  patchKnown(items, { names: knownKeys, rows });
  if (metadata.size > 0) rows.patchDetails({ buildMetadata: storableObject(metadata) });
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
  patchKnown([...items, ...gitHubRepository(items)], { names: knownVariables, rows });
  return true;
}

/** GitHub tells server and repository apart; together they are the URL. */
function gitHubRepository(items: readonly Item[]): Item[] {
  const said = (key: string): string => items.find((item) => item.key === key)?.value ?? "";
  const repository = said("GITHUB_REPOSITORY");
  if (repository === "") return [];
  return [
    { key: "CI_PROJECT_URL", value: `${said("GITHUB_SERVER_URL") || "https://github.com"}/${repository}` },
  ];
}

/** A configuration. Of those that targets are built in the invocation tells too; those of tools say nothing about it. */
export function configurationRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const configuration = readConfiguration(event);
  if (isMalformed(id) || isMalformed(configuration)) return false;
  if (isKey(id.name)) {
    const { makeVariables } = configuration;
    rows.addConfiguration({
      id: storable(id.name),
      mnemonic: textOrNull(configuration.mnemonic),
      platform: textOrNull(configuration.platformName),
      cpu: textOrNull(configuration.cpu),
      isTool: configuration.isTool,
      makeVariables: makeVariables.size === 0 ? null : storableObject(makeVariables),
    });
  }
  if (configuration.isTool || configuration.mnemonic.includes("-exec-")) return true;
  rows.patchInvocation({
    ...presentText("cpu", configuration.cpu),
    ...presentText("platform", configuration.platformName),
  });
  return true;
}

interface Item {
  readonly key: string;
  readonly value: string;
}

function patchKnown(items: readonly Item[], how: { names: KnownNames; rows: RowsBuilder }): void {
  const values = new Map<string, string>();
  for (const { key, value } of items) if (how.names.has(key) && value !== "") values.set(key, value);
  if (values.size === 0) return;
  let patch: IInvocationPatch = {};
  for (const [key, field] of how.names) {
    if (!(field in patch)) patch = { ...patch, ...presentText(field, values.get(key) ?? "") };
  }
  how.rows.patchInvocation(patch);
}
