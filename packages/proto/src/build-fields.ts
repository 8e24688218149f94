import type { Field } from "@millrace/base/query/query";

/** `status:flaky` stands beside what an attempt's status can be: some test of it was flaky. */
export const buildStatusChoices = [
  "running",
  "succeeded",
  "failed",
  "interrupted",
  "disconnected",
  "aborted",
  "flaky",
] as const;

const ofEnded = "Unknown while the build runs.";

/** What a query about builds may name. The API and whoever filters builds in memory read the same list. */
export const buildFields = [
  {
    name: "status",
    kind: "choice",
    choices: buildStatusChoices,
    about: "Where the build stands; `flaky`: some test passed only when it was tried again.",
    example: "status:failed,flaky",
  },
  { name: "user", kind: "text", about: "Who ran Bazel.", example: "user:ann" },
  { name: "host", kind: "text", about: "The machine that Bazel ran on.", example: "host:ci-*" },
  { name: "command", kind: "text", about: "Bazel's command.", example: "command:test" },
  { name: "branch", kind: "text", about: "The branch that was built.", example: "branch:release/*" },
  {
    name: "commit",
    kind: "text",
    byPrefix: true,
    about: "The commit, or its first digits.",
    example: "commit:3fa9c1",
  },
  { name: "repository", kind: "text", about: "URL of the repository.", example: "repository:*millrace*" },
  { name: "role", kind: "text", about: "What the build is for, such as CI.", example: "role:CI" },
  {
    name: "pattern",
    kind: "text",
    about: "A target pattern of the command line.",
    example: "pattern://app/...",
  },
  {
    name: "invocation",
    kind: "text",
    byPrefix: true,
    about: "The invocation's id, or its beginning.",
    example: "invocation:8a1f6e0c",
  },
  {
    name: "build",
    kind: "text",
    about: "The build id, which several invocations may share.",
    example: "build:nightly-7",
  },
  { name: "tool", kind: "text", about: "Version of Bazel.", example: "tool:7.*" },
  { name: "cpu", kind: "text", about: "The CPU that was built for.", example: "cpu:k8" },
  { name: "platform", kind: "text", about: "The platform that was built for.", example: "platform:/linux/i" },
  { name: "result", kind: "text", about: "Name of Bazel's exit code.", example: "result:TESTS_FAILED" },
  { name: "exit", kind: "number", about: "Bazel's exit code.", example: "exit:>0" },
  {
    name: "attempt",
    kind: "number",
    about: "Which attempt of the invocation this is.",
    example: "attempt:>1",
  },
  { name: "duration", kind: "duration", about: `How long it took. ${ofEnded}`, example: "duration:>5m" },
  {
    name: "cputime",
    kind: "duration",
    about: `CPU time of Bazel and its actions. ${ofEnded}`,
    example: "cputime:>1h",
  },
  {
    name: "actions",
    kind: "number",
    about: `Actions that were executed. ${ofEnded}`,
    example: "actions:>=1000",
  },
  { name: "targets", kind: "number", about: `Targets. ${ofEnded}`, example: "targets:>100" },
  {
    name: "targets.failed",
    kind: "number",
    about: `Targets that failed. ${ofEnded}`,
    example: "targets.failed:>0",
  },
  { name: "tests", kind: "number", about: `Test targets. ${ofEnded}`, example: "tests:0" },
  {
    name: "tests.failed",
    kind: "number",
    about: `Test targets that failed. ${ofEnded}`,
    example: "tests.failed:1..5",
  },
  { name: "tests.flaky", kind: "number", about: `Flaky test targets. ${ofEnded}`, example: "tests.flaky:>0" },
  { name: "started", kind: "time", about: "When it started, by Bazel's clock.", example: "started:<2d" },
  {
    name: "finished",
    kind: "time",
    about: "When it finished, by Bazel's clock.",
    example: "finished:2026-11-30",
  },
  {
    name: "created",
    kind: "time",
    about: "When its first event was stored.",
    example: "created:>=2026-11-30T10:00Z",
  },
] as const satisfies readonly Field[];

export type BuildField = (typeof buildFields)[number]["name"];
