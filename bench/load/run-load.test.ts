import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { statusCode } from "@millrace/test/model/fake-bazel/bes-channel";
import { requestsOfPayloads, usualKeywords } from "@millrace/test/model/fake-bazel/requests";
import { type Behaviour, startScriptedServer } from "@millrace/test/model/fake-bazel/scripted-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Workload } from "../workloads/workload.ts";
import { startAckServer } from "./ack-server.ts";
import { type LoadPlan, parseLoadCommand } from "./load-plan.ts";
import { runInProcesses } from "./load-process.ts";
import { reportOf } from "./load-report.ts";
import { runLoad } from "./run-load.ts";
import { RunLogWriter, readBuilds } from "./run-log.ts";

let directory = "";
const cleanUps: (() => void)[] = [];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "run-load-"));
});
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  rmSync(directory, { recursive: true });
});

function workload(name: "tiny" | "real", eventsPerBuild: number): Workload {
  const payloads = (variant: number) =>
    Array.from({ length: eventsPerBuild - 1 }, (_, index) => Buffer.of(0xa0, 1, variant, index));
  return {
    name,
    hash: `${name}-hash`,
    eventsPerBuild,
    variants: 3,
    payloads,
    storedPayloads: payloads,
    exitCode: (variant) => variant,
  };
}

async function run(args: readonly string[], workloads: readonly Workload[]) {
  const plan: LoadPlan = { ...parseLoadCommand(args).plan, log: path.join(directory, "log") };
  const log = new RunLogWriter(path.join(directory, "log"), systemClock);
  const measures = await runLoad(plan, { clock: systemClock, random: systemRandom, workloads, log });
  await log.close();
  return { report: reportOf([measures]), builds: await readBuilds(path.join(directory, "log")) };
}

async function ackServer(): Promise<string> {
  const server = await startAckServer(0);
  cleanUps.push(() => server.close());
  return server.address;
}

async function scripted(behaviour: Behaviour): Promise<string> {
  const server = await startScriptedServer(behaviour);
  cleanUps.push(() => server.close());
  return server.address;
}

test("uploads the builds it was told to, by turns, and logs each from its begin to its end", async () => {
  const address = await ackServer();
  const args = ["--address", address, "--streams", "4", "--builds", "12"];
  const { report, builds } = await run(args, [workload("real", 30), workload("tiny", 5)]);
  expect(report).toMatchObject({
    builds: 12,
    failed: 0,
    messages: [],
    eventsAcked: 6 * 30 + 6 * 5,
    resent: 0,
    missingAcks: 0,
    reconnects: 0,
  });
  expect(report.ackMaxMs).toBeGreaterThan(0);
  const variants = builds.map(({ build }) => `${build.workload} ${build.variant}`).sort();
  const twice = (name: string) =>
    [0, 1, 2].flatMap((variant) => [`${name} ${variant}`, `${name} ${variant}`]);
  expect(variants).toEqual([...twice("real"), ...twice("tiny")]);
  for (const { build, ackedTo, end } of builds) {
    expect(build).toMatchObject({ exitCode: build.variant, workloadHash: `${build.workload}-hash` });
    expect(ackedTo).toBe(build.events);
    expect(end).toMatchObject({
      outcome: "done",
      sent: build.events,
      acked: build.events,
      resent: 0,
      message: "",
    });
  }
});

test("what was sent can be made again from the log, byte for byte", async () => {
  const requests: Buffer[] = [];
  const address = await scripted({
    onRequest: (request, stream) => {
      requests.push(request);
      stream.ack(requests.length);
    },
    onHalfClose: (stream) => stream.endOk(),
  });
  const tiny = workload("tiny", 8);
  const { builds } = await run(["--address", address, "--streams", "1", "--builds", "1"], [tiny]);
  const build = builds[0]?.build;
  if (build === undefined) throw new Error("one build was logged");
  const { buildId, invocationId, startMs } = build;
  const names = { buildId, invocationId, projectId: "", keywords: usualKeywords };
  const source = requestsOfPayloads(tiny.payloads(build.variant), { names, startMs });
  const again = requests.map((_, index) => Buffer.from(source.next(index + 1)).toString("hex"));
  expect(source.isDone).toBe(true);
  expect(requests.map((request) => request.toString("hex"))).toEqual(again);
});

test("a failed upload is counted, with its reason and what was not acknowledged", async () => {
  const address = await scripted({
    onEvent: (sequence, stream) => {
      if (sequence === 4) stream.fail(statusCode.failedPrecondition, "no more");
      else stream.ack(sequence);
    },
  });
  const { report, builds } = await run(
    ["--address", address, "--streams", "1", "--builds", "1"],
    [workload("tiny", 8)],
  );
  expect(report).toMatchObject({ builds: 1, failed: 1, eventsAcked: 3 });
  expect(report.messages).toEqual([expect.stringContaining("no more")]);
  expect(report.missingAcks).toBeGreaterThanOrEqual(1);
  expect(builds[0]).toMatchObject({ ackedTo: 3, end: { outcome: "failed", acked: 3 } });
});

test("when the time is over the rest of a paced build is sent at once", async () => {
  const address = await ackServer();
  // At its pace the build would take an hour.
  const args = ["--address", address, "--streams", "2", "--seconds", "0.2", "--rate", "0.01", "--ramp", "0"];
  const { report, builds } = await run(args, [workload("tiny", 36)]);
  expect(report).toMatchObject({ builds: 2, failed: 0, eventsAcked: 72 });
  expect(builds.map(({ ackedTo }) => ackedTo)).toEqual([36, 36]);
});

test("several processes share a plan and a log", async () => {
  const log = path.join(directory, "log");
  const args = ["--address", await ackServer(), "--streams", "4", "--builds", "6", "--log", log];
  const { workloadHash, parts } = await runInProcesses(parseLoadCommand(args).plan, 2);
  expect(reportOf(parts)).toMatchObject({ builds: 6, failed: 0, missingAcks: 0 });
  const builds = await readBuilds(log);
  expect(builds.map(({ build }) => build.variant).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(new Set(builds.map(({ build }) => build.workloadHash))).toEqual(new Set([workloadHash]));
});
