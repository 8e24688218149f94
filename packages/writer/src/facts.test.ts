import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import { invocationFact } from "./facts.ts";

const about = {
  key: { project: "default", invocationId: "i" },
  attemptId: 7,
  attempt: 2,
  buildId: "b",
  status: "succeeded" as const,
  lastEventSeq: 42,
  command: "build",
  exitCode: 0,
  exitCodeName: "SUCCESS",
  startedAtMs: 1_000,
  finishedAtMs: 9e300,
};

test("a fact is a CloudEvent with all that a consumer needs to order it and to tell repeats", () => {
  const random = { bytes: () => new Uint8Array(0), uuid: () => "an id", fraction: () => 0 };
  expect(invocationFact("finished", about, { clock: new ScriptedClock(1_500), random })).toEqual({
    project: "default",
    subject: "events.default.invocation.finished",
    event: {
      specversion: "1.0",
      id: "an id",
      source: "/millrace/projects/default",
      type: "millrace.invocation.finished",
      subject: "i",
      time: "1970-01-01T00:00:01.500Z",
      datacontenttype: "application/json",
      data: {
        project: "default",
        invocationId: "i",
        attempt: 2,
        lastEventSeq: 42,
        buildId: "b",
        status: "succeeded",
        command: "build",
        exitCode: 0,
        exitCodeName: "SUCCESS",
        startedAt: "1970-01-01T00:00:01.000Z",
        finishedAt: null,
      },
    },
  });
});
