import { latch } from "@millrace/base/latch";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import type { Exit } from "../services/spawn-service.ts";
import { Part, type PartReport, type RunningProcess } from "./part.ts";

/** A process in name only, which does what it is told. */
class ModelProcess implements RunningProcess {
  readonly pid: number;
  readonly #exit = latch<Exit>();
  readonly exited = this.#exit.promise;
  constructor(pid: number) {
    this.pid = pid;
  }
  async stop(): Promise<void> {
    this.#exit.open({ code: 0, signal: null });
  }
  kill(): void {
    this.#exit.open({ code: null, signal: "SIGKILL" });
  }
}

/** A part whose processes come up at once, unless `broken`. */
function supervised(settings: { restarts?: boolean } = {}) {
  const clock = new ScriptedClock();
  const reports: PartReport[] = [];
  const processes: ModelProcess[] = [];
  const how = { broken: false };
  const launch = async (): Promise<RunningProcess> => {
    if (how.broken) throw new Error("no room");
    processes.push(new ModelProcess(100 + processes.length));
    return processes.at(-1) ?? new ModelProcess(0);
  };
  const part = new Part(
    { name: "writer-1", launch },
    {
      clock,
      restarts: settings.restarts ?? true,
      onReport: (report) => reports.push(report),
      onProcess: () => {},
    },
  );
  return { clock, reports, processes, how, part };
}

test("a process that dies is back before a second has passed", async () => {
  const { part, processes, clock, reports } = supervised();
  await part.start();
  processes[0]?.kill();
  await clock.advance(999);
  expect(part.pid).toBe(101);
  expect(reports.map((report) => report.kind)).toEqual(["restarting", "back"]);
  expect(reports[0]?.cause).toEqual({ kind: "exit", exit: { code: null, signal: "SIGKILL" } });
});

test("one that keeps dying is tried every 10 s, and reported as a loop", async () => {
  const { part, processes, clock, reports } = supervised();
  await part.start();
  for (let death = 0; death < 8; death++) {
    processes.at(-1)?.kill();
    await clock.advance(10_000);
  }
  expect(processes).toHaveLength(9);
  expect(reports.some((report) => report.kind === "restarting" && report.isLoop)).toBe(false);
  for (let death = 0; death < 8; death++) {
    processes.at(-1)?.kill();
    await clock.advance(9_999);
  }
  expect(reports.some((report) => report.kind === "restarting" && report.isLoop)).toBe(true);
});

test("a first start that fails tells why and leaves nothing behind", async () => {
  const { part, how, clock } = supervised();
  how.broken = true;
  await expect(part.start()).rejects.toThrow("no room");
  how.broken = false;
  await clock.advance(60_000);
  expect(part.pid).toBeUndefined();
  await part.stop();
});

test("a later start that fails is tried again", async () => {
  const { part, processes, how, clock, reports } = supervised();
  await part.start();
  how.broken = true;
  processes[0]?.kill();
  await clock.advance(100);
  how.broken = false;
  await clock.advance(500);
  expect(part.pid).toBe(101);
  expect(reports.map((report) => report.kind)).toEqual(["restarting", "restarting", "back"]);
});

test("stop ends the process and resolves when it is gone; it stays so", async () => {
  const { part, processes, clock } = supervised();
  await part.start();
  await part.stop();
  await clock.advance(60_000);
  expect(processes).toHaveLength(1);
  expect(part.state.kind).toBe("stopped");
});

test("without restarts what died stays dead", async () => {
  const { part, processes, clock, reports } = supervised({ restarts: false });
  await part.start();
  processes[0]?.kill();
  await clock.advance(60_000);
  expect(processes).toHaveLength(1);
  expect(reports.map((report) => report.kind)).toEqual(["given-up"]);
  await part.stop();
});
