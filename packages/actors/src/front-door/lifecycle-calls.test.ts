import { google } from "@millrace/proto/gen/bes";
import { afterEach, describe, expect, it } from "vitest";
import { lifecycleCall } from "./clients.fixture.ts";
import { TestDoor } from "./door.fixture.ts";

const { PublishLifecycleEventRequest } = google.devtools.build.v1;

let door: TestDoor;

afterEach(() => door.stop());

type Event = google.devtools.build.v1.BuildEvent.$Properties;

function lifecycle(event: Event, at: { invocationId?: string; sequence?: number } = {}): Buffer {
  const { invocationId = "inv-1", sequence = 1 } = at;
  return Buffer.from(
    PublishLifecycleEventRequest.encode({
      serviceLevel: 1,
      buildEvent: {
        streamId: { buildId: "build-1", invocationId, component: 1 },
        sequenceNumber: sequence,
        event: { eventTime: { seconds: 1_700_000_000, nanos: 5_000_000 }, ...event },
      },
    }).finish(),
  );
}

describe("a lifecycle call", () => {
  it.each([
    ["build enqueued", { buildEnqueued: {} }, { kind: 1 }],
    ["attempt started", { invocationAttemptStarted: { attemptNumber: 1 } }, { kind: 2, attemptNumber: 1 }],
    [
      "attempt finished",
      { invocationAttemptFinished: { invocationStatus: { result: 2 } } },
      { kind: 3, result: 2 },
    ],
    ["build finished", { buildFinished: { status: { result: 1 } } }, { kind: 4, result: 1 }],
  ])("%s reaches the writers", async (_name, event, expected) => {
    door = await TestDoor.open();
    expect((await lifecycleCall(door.port, { request: lifecycle(event) })).code).toBe(0);
    expect(door.writers.lifecycle).toEqual([
      expect.objectContaining({
        project: "default",
        buildId: "build-1",
        invocationId: "inv-1",
        component: 1,
        sequence: 1,
        eventTimeMs: 1_700_000_000_005,
        ...expected,
      }),
    ]);
    expect(door.thread.messages).toEqual([]);
  });

  it("succeeds though nobody answers, and is counted", async () => {
    door = await TestDoor.open();
    await lifecycleCall(door.port, { request: lifecycle({ buildEnqueued: {} }) });
    door.writers.isAway = true;
    expect((await lifecycleCall(door.port, { request: lifecycle({ buildEnqueued: {} }) })).code).toBe(0);
    expect(door.door.lifecycle.counters).toEqual({ recorded: 1, unanswered: 1, refused: 0 });
  });

  it("with a wrong key is refused at once", async () => {
    door = await TestDoor.open();
    const ended = await lifecycleCall(door.port, {
      request: lifecycle({ buildEnqueued: {} }),
      apiKey: "wrong",
    });
    expect(ended).toMatchObject({ code: 9, details: expect.stringMatching(/x-api-key is unknown/) });
    expect(door.writers.lifecycle).toEqual([]);
  });

  it("that is garbage is refused", async () => {
    door = await TestDoor.open();
    const ended = await lifecycleCall(door.port, { request: Buffer.from([0xff, 0xff]) });
    expect(ended).toMatchObject({
      code: 3,
      details: expect.stringMatching(/not a PublishLifecycleEventRequest/),
    });
  });
});
