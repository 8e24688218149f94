import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import { type Job, type JobLease, type JobLeases, startJobs } from "./jobs.ts";

/** One lease row in memory. */
function leaseTable(): JobLeases & { holder: string | undefined } {
  let epoch = 0;
  const table = {
    holder: undefined as string | undefined,
    acquire: async ({ name, holder }: { name: string; holder: string }): Promise<JobLease | undefined> => {
      if (table.holder !== undefined && table.holder !== holder) return undefined;
      if (table.holder !== holder) epoch += 1;
      table.holder = holder;
      return { name, holder, epoch };
    },
    giveUp: async (): Promise<void> => {
      table.holder = undefined;
    },
  };
  return table;
}

test("one process at a time runs a job, the next one when the first stops, in a new epoch", async () => {
  const clock = new ScriptedClock();
  const leases = leaseTable();
  const runs: string[] = [];
  const job: Job = {
    name: "sweep",
    periodMs: 100,
    run: async (lease) => void runs.push(`${lease.holder}${lease.epoch}`),
  };
  const first = startJobs([job], { leases, holder: "a", clock, log: silentLog });
  const second = startJobs([job], { leases, holder: "b", clock, log: silentLog });
  await clock.advance(250);
  expect(runs).toEqual(["a1", "a1", "a1"]);
  await first.stop();
  await clock.advance(100);
  expect(runs).toEqual(["a1", "a1", "a1", "b2"]);
  await second.stop();
  await clock.advance(500);
  expect(runs).toHaveLength(4);
});

test("a run that fails comes again", async () => {
  const clock = new ScriptedClock();
  let runs = 0;
  const job: Job = {
    name: "broken",
    periodMs: 100,
    run: async () => {
      runs += 1;
      throw new Error("broken");
    },
  };
  const started = startJobs([job], { leases: leaseTable(), holder: "a", clock, log: silentLog });
  await clock.advance(250);
  expect(runs).toBe(3);
  await started.stop();
});
