import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { signalConfigShape } from "../queue-config.ts";
import { openQueues } from "../queue-directory.ts";
import { runnerKinds } from "../runner-kinds.ts";
import { sourceKinds } from "../source-kinds.ts";
import { runnerWorld } from "./build-server.fixture.ts";

const page = await readFile(path.join(import.meta.dirname, "../../../../docs/buildsignal.md"), "utf8");
const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => JSON.parse(text));

test.each(examples.map((example, index) => [index + 1, example]))(
  "example %d of docs/buildsignal.md is a configuration that starts",
  (_, example) => {
    const world = { ...runnerWorld(), secret: () => "a credential" };
    const queues = openQueues(signalConfigShape.parse(example), {
      runners: runnerKinds,
      sources: sourceKinds,
      world,
    });
    expect([...queues.keys()]).toEqual(["trunk"]);
  },
);

test("docs/buildsignal.md tells about every kind of runner", () => {
  for (const { kind } of runnerKinds) expect(page).toMatch(new RegExp(`^### \`${kind}\``, "m"));
});
