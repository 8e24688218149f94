import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import { LiveQueues } from "./live-queues.ts";
import { signalConfigShape } from "./queue-config.ts";
import type { QueueConfigStore, StoredQueueConfig } from "./queue-config-store.ts";
import { openQueues } from "./queue-directory.ts";
import { runnerKinds } from "./runner-kinds.ts";
import { sourceKinds } from "./source-kinds.ts";

const parts = {
  runners: runnerKinds,
  sources: sourceKinds,
  world: {
    clock: new ScriptedClock(),
    random: systemRandom,
    log: silentLog,
    secret: (name: string) => (name === "known" ? "s" : undefined),
  },
};
const fake = { runner: { kind: "fake" } };

function opened(stored: StoredQueueConfig[]): { queues: LiveQueues; errors: unknown[] } {
  const errors: unknown[] = [];
  const store: Pick<QueueConfigStore, "list"> = { list: async () => [...stored] };
  const file = openQueues(signalConfigShape.parse({ queues: { trunk: fake } }), parts);
  const log = { ...silentLog, error: (_: string, fields?: object) => void errors.push(fields) };
  return { queues: new LiveQueues({ file, parts, store: store as QueueConfigStore, log }), errors };
}

test("queues of the API come, change and go; those of the file stay", async () => {
  const stored: StoredQueueConfig[] = [
    { name: "trunk", config: { ...fake, max_concurrent: 9 }, stamp: "1" },
    { name: "release", config: fake, stamp: "1" },
  ];
  const { queues } = opened(stored);
  await queues.reload();
  const { directory } = queues;
  expect([...directory.keys()]).toEqual(["trunk", "release"]);
  expect(directory.get("trunk")?.config.max_concurrent).toBe(1);
  const before = directory.get("release");
  await queues.reload();
  expect(directory.get("release")).toBe(before);
  stored[1] = { name: "release", config: { ...fake, max_concurrent: 3 }, stamp: "2" };
  await queues.reload();
  expect(directory.get("release")?.config.max_concurrent).toBe(3);
  stored.length = 0;
  await queues.reload();
  expect([...directory.keys()]).toEqual(["trunk"]);
});

test("one that does not work here is left out and told, the others are there", async () => {
  const runner = { kind: "buildkite", organization: "a", pipeline: "b", token_secret: "unknown" };
  const { queues, errors } = opened([
    { name: "a", config: { runner }, stamp: "1" },
    { name: "b", config: { runner: { ...runner, token_secret: "known" } }, stamp: "1" },
  ]);
  await queues.reload();
  expect([...queues.directory.keys()]).toEqual(["trunk", "b"]);
  expect(errors).toMatchObject([{ queue: "a", error: expect.stringContaining("unknown") }]);
  await expect(queues.lookFor("a")).rejects.toMatchObject({ remedy: "retry", code: "queue-unusable-here" });
  await Promise.all(["b", "trunk", "nowhere"].map((name) => queues.lookFor(name)));
});

test.each([
  ["a name with a slash", "a/b", fake, "letters, digits"],
  ["a misspelt field", "a", { ...fake, max_concurent: 2 }, "max_concurent"],
  ["a kind that is not there", "a", { runner: { kind: "teamcity" } }, "there is no kind teamcity"],
  [
    "a command on the controller's machine",
    "a",
    {
      runner: {
        kind: "millrace",
        server: "http://localhost:1",
        start: { kind: "command", argv: ["/bin/sh"], directory: "/" },
      },
    },
    "runner.start: a command can be set in the controller's file only",
  ],
  [
    "a copy of a repository on its disk",
    "a",
    { ...fake, source: { kind: "git", repository: "r", branch: "main", mirror: "/m" } },
    "source: a git source can be set in the controller's file only",
  ],
])("%s is refused with its place", (_, name, config, problem) => {
  expect(() => opened([]).queues.check(name, config)).toThrow(problem);
});
