import { expect, test } from "vitest";
import { build_event_stream } from "../gen/bep.js";
import { convertJsonEvent } from "./ndjson.ts";

function convert(json: unknown) {
  const converted = convertJsonEvent(JSON.stringify(json));
  if (converted.kind === "broken") throw new Error(converted.reason);
  return { event: build_event_stream.BuildEvent.decode(converted.bytes), unknown: converted.unknown };
}

test("proto3 JSON: 64-bit text, enum names, times and base64", () => {
  const { event, unknown } = convert({
    id: { testResult: { label: "//a:t", run: 1 } },
    testResult: {
      status: "PASSED",
      testAttemptDurationMillis: "4000000000",
      testAttemptStart: "2026-11-30T22:41:57.250Z",
      testAttemptDuration: "1.500s",
      testActionOutput: [{ name: "a", contents: "aGk=" }],
    },
  });
  expect(unknown).toEqual([]);
  expect(event.testResult).toMatchObject({
    status: 1,
    testAttemptDurationMillis: 4_000_000_000,
    testAttemptStart: { seconds: 1_796_078_517, nanos: 250_000_000 },
    testAttemptDuration: { seconds: 1, nanos: 500_000_000 },
  });
  expect(Buffer.from(event.testResult?.testActionOutput?.[0]?.contents ?? []).toString()).toBe("hi");
});

test("the schema's own names are understood as well", () => {
  const { event, unknown } = convert({ started: { build_tool_version: "9.1.0", serverPid: 3 } });
  expect(event.started).toMatchObject({ buildToolVersion: "9.1.0", serverPid: 3 });
  expect(unknown).toEqual([]);
});

test("what a newer Bazel wrote is dropped and reported", () => {
  const { event, unknown } = convert({
    id: { started: {}, novelty: {} },
    finished: { failureDetail: { message: "m", spawn: { code: "NEW_CODE" } }, novelty: { deep: 1 } },
    children: [{ progress: { newer: 1 } }],
  });
  expect(unknown).toEqual([
    "id.novelty",
    "finished.failureDetail.spawn.code=NEW_CODE",
    "finished.novelty",
    "children[0].progress.newer",
  ]);
  expect(event.finished?.failureDetail?.message).toBe("m");
  expect(event.children?.length).toBe(1);
});

test("details of a type we do not have are dropped and reported", () => {
  const { event, unknown } = convert({
    action: { success: true, strategyDetails: [{ "@type": "type.googleapis.com/some.Thing", a: 1 }] },
  });
  expect(unknown).toEqual(["action.strategyDetails[0]"]);
  expect(event.action).toMatchObject({ success: true, strategyDetails: [] });
});

test("failure details keep their category", () => {
  const converted = convertJsonEvent(
    JSON.stringify({ finished: { failureDetail: { message: "m", spawn: { code: "NON_ZERO_EXIT" } } } }),
  );
  expect(converted).toMatchObject({ kind: "event", unknown: [] });
  // finished = 14 { failure_detail = 6 { message, spawn = 123 { code = 1 } } }
  const expected = [0x72, 10, 0x32, 8, 0x0a, 1, 0x6d, 0xda, 0x07, 2, 0x08, 1];
  if (converted.kind === "event") expect([...converted.bytes]).toEqual(expected);
});

test.each(["", "{", "[1]", '"x"', '{"started":{"startTimeMillis":"x"}}', '{"lastMessage":"yes"}'])(
  "%j is a broken line",
  (line) => {
    expect(convertJsonEvent(line)).toMatchObject({ kind: "broken" });
  },
);
