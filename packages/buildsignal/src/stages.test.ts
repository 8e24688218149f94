import { beforeEach, expect, test } from "vitest";
import type { Delivery } from "./queue/message.ts";
import { topicSettingsShape } from "./queue/topic-settings.ts";
import { judge } from "./queue/verdict.ts";
import { type StageBench, stageBench } from "./stage-bench.fixture.ts";
import { stageSubscriptions } from "./stages.ts";
import { stages } from "./topics.ts";

let bench: StageBench;
let lookedFor: string[];
beforeEach(() => {
  bench = stageBench();
  lookedFor = [];
});

function handle(topic: string, payload: unknown): Promise<unknown> {
  const lookForQueue = async (name: string): Promise<void> => {
    lookedFor.push(name);
  };
  const settings = topicSettingsShape.parse({});
  const all = stageSubscriptions({ ...bench.context, lookForQueue }, () => settings);
  const subscription = all.find((one) => one.topic === topic);
  if (subscription === undefined) throw new Error(`nobody handles ${topic}`);
  return subscription.handle({ payload, holds: 0 } as Delivery, new AbortController().signal);
}

const topics = stages.flatMap((stage) => [stage, `${stage}_dlq`]);
const malformed: [string, unknown][] = [
  ["nothing", undefined],
  ["a text", "request/main/1"],
  ["no id", { queue_name: "main" }],
  ["an empty id", { id: "", queue_name: "main" }],
  ["an id that is no text", { id: 7 }],
];

test.each(topics.flatMap((topic) => malformed.map(([what, payload]) => [topic, what, payload] as const)))(
  "%s gives up a message of %s, and writes nothing",
  async (topic, _, payload) => {
    const failure: unknown = await handle(topic, payload).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "malformed-message" });
    expect([judge(failure), bench.database.writes]).toEqual(["infra", []]);
  },
);

test("fields that a newer version adds are passed over", async () => {
  bench.putQueue();
  bench.putRequest(1, "accepted");
  expect(await handle("process", { id: "request/main/1", queue_name: "main", added: 1 })).toEqual({
    kind: "done",
  });
});

test("queues are read again for a message about one that is not known, and only then", async () => {
  bench.putRequest(1, "accepted");
  bench.putQueue();
  await handle("process", { id: "request/main/1", queue_name: "main" });
  await handle("record_dlq", { id: "request/main/9" });
  expect(lookedFor).toEqual([]);
  await handle("process_dlq", { id: "request/other/1", queue_name: "other" });
  expect(lookedFor).toEqual(["other"]);
});
