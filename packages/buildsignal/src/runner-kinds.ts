import { type AnyKind, anyRunner } from "./queue-directory.ts";
import type { BuildRunner } from "./runner.ts";
import { buildkiteRunnerKind } from "./runners/buildkite.ts";
import { fakeRunnerKind } from "./runners/fake.ts";
import { genericHttpRunnerKind } from "./runners/generic-http.ts";
import { githubActionsRunnerKind } from "./runners/github-actions.ts";
import { jenkinsRunnerKind } from "./runners/jenkins.ts";
import { millraceRunnerKind } from "./runners/millrace.ts";

/** Every kind of runner that a queue can name. A new kind is added here. */
export const runnerKinds: readonly AnyKind<BuildRunner>[] = [
  anyRunner(millraceRunnerKind),
  anyRunner(buildkiteRunnerKind),
  anyRunner(githubActionsRunnerKind),
  anyRunner(jenkinsRunnerKind),
  anyRunner(genericHttpRunnerKind),
  anyRunner(fakeRunnerKind),
];
