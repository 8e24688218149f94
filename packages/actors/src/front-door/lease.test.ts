import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { describe, expect, it } from "vitest";
import { keepLease } from "./lease.ts";
import { ModelWriters } from "./model-writers.fixture.ts";

describe("the lease", () => {
  it("is renewed at once, every 10 s, through outages, and given up at the end", async () => {
    const clock = new ScriptedClock();
    const writers = new ModelWriters(clock);
    const lease = keepLease("node-1", { bus: writers.bus, clock, log: silentLog });
    await clock.advance(0);
    expect(writers.leases).toHaveLength(1);
    await clock.advance(20_000);
    expect(writers.leases).toHaveLength(3);
    writers.isAway = true;
    await clock.advance(60_000);
    writers.isAway = false;
    await clock.advance(15_000);
    expect(writers.leases).toHaveLength(4);
    await lease.leave();
    expect(writers.leases.at(-1)).toMatchObject({ node: "node-1", leaving: true });
    const count = writers.leases.length;
    await clock.advance(60_000);
    expect(writers.leases).toHaveLength(count);
  });

  it("is given up in vain within a second when nobody answers", async () => {
    const clock = new ScriptedClock();
    const writers = new ModelWriters(clock);
    const lease = keepLease("node-1", { bus: writers.bus, clock, log: silentLog });
    writers.isAway = true;
    let hasLeft = false;
    void lease.leave().then(() => {
      hasLeft = true;
    });
    await clock.advance(1_000);
    expect(hasLeft).toBe(true);
  });
});
