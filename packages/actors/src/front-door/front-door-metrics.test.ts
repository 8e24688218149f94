import { createMetrics } from "@millrace/base/metrics";
import { afterEach, describe, expect, it } from "vitest";
import { build } from "./bes-messages.fixture.ts";
import { StreamClient } from "./clients.fixture.ts";
import { TestDoor, until } from "./door.fixture.ts";
import { frontDoorMetrics } from "./front-door-metrics.ts";

let door: TestDoor;

afterEach(() => door.stop());

async function run(at: { invocationId: string }): Promise<void> {
  const bazel = new StreamClient(door.port);
  bazel.send(...build(10, at));
  bazel.halfClose();
  expect((await bazel.ended).code).toBe(0);
}

describe("the metrics", () => {
  it("count events, acknowledgements and endings, and what threads say of themselves", async () => {
    door = await TestDoor.open();
    const metrics = createMetrics("test");
    const numbers = frontDoorMetrics(metrics, { door: door.door, threads: door.pool });
    const read = async (line: string): Promise<string | undefined> => {
      numbers.refresh();
      const lines = (await metrics.text()).split("\n");
      return lines
        .find((one) => one.startsWith(line))
        ?.split(" ")
        .at(-1);
    };
    await run({ invocationId: "inv-1" });
    door.thread.post({ kind: "stats", counters: { batches: 3 } });
    await until(() => door.pool.threadCounters.length === 1);
    expect(await read("millrace_front_door_events_total")).toBe("10");
    await run({ invocationId: "inv-2" });
    expect(await read("millrace_front_door_events_total")).toBe("20");
    expect(await read("millrace_front_door_acks_total")).toBe("20");
    expect(await read("millrace_front_door_open_streams")).toBe("0");
    expect(await read("millrace_front_door_in_flight_bytes")).toBe("0");
    expect(await read('millrace_front_door_streams_ended_total{status="0"')).toBe("2");
    expect(await read('millrace_thread{thread="0",name="batches"')).toBe("3");
  });
});
