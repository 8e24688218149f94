import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BuildLine, type RunLogLine, RunLogWriter, readBuilds, readRunLog } from "./run-log.ts";

let directory = "";
let file = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "run-log-"));
  file = path.join(directory, "log");
});
afterEach(() => rmSync(directory, { recursive: true }));

const build = (invocationId: string): Omit<BuildLine, "kind"> => ({
  invocationId,
  buildId: `${invocationId}-b`,
  workload: "tiny",
  workloadHash: "0123456789abcdef",
  variant: 3,
  startMs: 1_796_080_542_597,
  events: 44,
  exitCode: 0,
});

async function lines(): Promise<RunLogLine[]> {
  const all: RunLogLine[] = [];
  for await (const line of readRunLog(file)) all.push(line);
  return all;
}

const end = { outcome: "done", sent: 44, acked: 44, resent: 0, message: "" } as const;

test("acks between two flushes are one line; the last ones precede the end", async () => {
  const log = new RunLogWriter(file, new ScriptedClock(7));
  const one = log.begin(build("one"));
  for (let to = 1; to <= 20; to += 1) one.acked(to);
  await log.flush();
  await log.flush();
  for (let to = 21; to <= 44; to += 1) one.acked(to);
  log.end(one, end);
  await log.close();
  expect(await lines()).toEqual([
    { kind: "run", startedAtMs: 7 },
    { kind: "build", ...build("one") },
    { kind: "acked", invocationId: "one", to: 20 },
    { kind: "acked", invocationId: "one", to: 44 },
    { kind: "end", invocationId: "one", ...end },
  ]);
});

test("what was acked is in the file 100 ms later, without an end", async () => {
  const clock = new ScriptedClock(0);
  const log = new RunLogWriter(file, clock);
  log.begin(build("one")).acked(5);
  await clock.advance(100);
  await expect.poll(() => readFileSync(file, "utf8"), { timeout: 30_000 }).toContain('"to":5');
  expect(await readBuilds(file)).toEqual([
    { build: { kind: "build", ...build("one") }, ackedTo: 5, end: undefined },
  ]);
  await log.close();
});

test("two writers share a file", async () => {
  const clock = new ScriptedClock(0);
  const logs = [new RunLogWriter(file, clock), new RunLogWriter(file, clock)];
  for (const [nth, log] of logs.entries()) log.end(log.begin(build(`of-${nth}`)), end);
  await Promise.all(logs.map((log) => log.close()));
  const records = await readBuilds(file);
  expect(records.map((record) => [record.build.invocationId, record.ackedTo, record.end?.outcome])).toEqual(
    expect.arrayContaining([
      ["of-0", 44, "done"],
      ["of-1", 44, "done"],
    ]),
  );
});

test("a torn last line is passed over, a torn line within is an error", async () => {
  const log = new RunLogWriter(file, new ScriptedClock(0));
  await log.close();
  appendFileSync(file, '{"kind":"acked","invoc');
  expect(await lines()).toEqual([{ kind: "run", startedAtMs: 0 }]);
  appendFileSync(file, '\n{"kind":"run","startedAtMs":1}\n');
  await expect(lines()).rejects.toThrow("line 2 is not of a run log");
});
