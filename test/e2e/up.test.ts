import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { delay, systemClock } from "@millrace/base/clock";
import { isStillRunning } from "@millrace/cli/up/process-identity";
import { frameMessage } from "@millrace/proto/bep/frames";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getRun, readInvocations } from "../model/corpus.ts";
import { decodeEvent, decodeRequest } from "../model/decode.ts";
import { runMillrace, startInBackground, startUp, type UpProcess } from "./millrace-command.ts";
import { waitFor } from "./wait-for.ts";

const corpus = path.resolve(import.meta.dirname, "../corpus");
const recording = path.join(corpus, "bazel4-test-ok/stream1.requests.bin.gz");
const parts = ["postgres", "nats", "writer-1", "writer-2", "ingest", "api"];

let parent: string;
let dataDir: string;
/** The one that runs; tests hand it on to each other, because a start takes seconds. */
let up: UpProcess;

beforeAll(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "millrace-up-"));
  dataDir = path.join(parent, "data");
  up = await startUp(dataDir);
});
afterAll(async () => {
  up?.signal("SIGTERM");
  await up?.ended();
  await rm(parent, { recursive: true, force: true, maxRetries: 5 });
});

/** Sends the recording and answers the id under which it was stored. */
async function replay(...args: string[]): Promise<string> {
  const { exitCode, out, err } = await runMillrace(
    "replay",
    recording,
    "--speed",
    "max",
    "--data-dir",
    dataDir,
    ...args,
  );
  expect({ exitCode, err }, out).toEqual({ exitCode: 0, err: "" });
  return out.trim().slice(-36);
}

/** The file that Bazel would have written for the recording. */
function expectedFile(): Buffer {
  const [requests = []] = readInvocations(getRun("bazel4-test-ok"));
  const frames = requests.flatMap((request) => {
    const content = decodeEvent(decodeRequest(request).event);
    return content.kind === "bazel" ? [frameMessage(content.payload)] : [];
  });
  return Buffer.concat(frames);
}

async function exported(invocationId: string): Promise<Buffer> {
  const file = path.join(parent, "exported.bep");
  const args = ["export", invocationId, "--bep", "-o", file, "--data-dir", dataDir];
  expect(await runMillrace(...args)).toMatchObject({ exitCode: 0, err: "" });
  return readFile(file);
}

let storedId = "";

test("one line tells the addresses; a build goes in, comes out the same and is whole; all is well", async () => {
  expect(Object.keys(up.ready.processes).sort()).toEqual([...parts].sort());
  storedId = await replay();
  expect((await exported(storedId)).equals(expectedFile())).toBe(true);
  expect(await runMillrace("verify", "--deep", "--data-dir", dataDir)).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(
      /^1 attempts checked, \d+ segments and \d+ archives unpacked: all is whole\.\n$/,
    ),
  });
  const doctor = await runMillrace("doctor", "--json", "--data-dir", dataDir);
  const troubles = JSON.parse(doctor.out).filter((check: { level: string }) => check.level === "fail");
  expect({ exitCode: doctor.exitCode, troubles }).toEqual({ exitCode: 0, troubles: [] });
  expect(up.out().trim().split("\n")).toHaveLength(1);
});

test("who watches sees a build start, move and finish", async () => {
  const watch = startInBackground("watch", "--data-dir", dataDir);
  await waitFor("it watches", () => watch.err().includes("Watching"));
  const id = await replay();
  // The last digest comes by another way than the fact, so either may be the later one.
  const wanted = [`${id}  STARTED`, `${id}  FINISHED test succeeded SUCCESS`, " bytes of log"];
  await waitFor("all is seen", () => wanted.every((text) => watch.out().includes(text)));
  expect(await watch.stop()).toBe(0);
});

test("a second one on the same directory, or on the same port, says who is there", async () => {
  const second = await runMillrace("up", "--data-dir", dataDir);
  expect(second).toMatchObject({ exitCode: 1, out: "" });
  expect(second.err).toContain(`already (process ${up.ready.pid}, ${up.ready.httpUrl})`);
  const onItsPort = ["--grpc-port", String(up.ready.grpcPort), "--http-port", "0"];
  const third = await runMillrace("up", "--data-dir", path.join(parent, "other"), ...onItsPort);
  expect(third).toMatchObject({ exitCode: 1, out: "" });
  expect(third.err).toContain(`Port ${up.ready.grpcPort} of 127.0.0.1 is taken`);
});

test("whatever is killed comes back where it was, and builds go on", async () => {
  for (const part of parts) {
    const before = up.processOf(part);
    process.kill(before.pid, "SIGKILL");
    await waitFor(`${part} is back\n${up.log()}`, () => up.processOf(part).started !== before.started);
    expect(up.log()).toContain(`${part} died (killed by SIGKILL); it is started again`);
  }
  const stored = await waitFor("the API answers", async () => {
    const response = await fetch(`${up.ready.httpUrl}/api/v1/projects/default/invocations/${storedId}`);
    return response.ok ? response.json() : undefined;
  });
  expect(stored).toMatchObject({ invocationId: storedId, status: "succeeded" });
  expect((await exported(await replay("--backend", up.ready.grpcUrl))).equals(expectedFile())).toBe(true);
});

test("SIGTERM stops everything in order and leaves nothing behind but the data", async () => {
  const processes = parts.map((part) => up.processOf(part));
  const logged = up.log().length;
  up.signal("SIGTERM");
  expect(await up.ended()).toBe(0);
  expect(processes.filter(isStillRunning)).toEqual([]);
  const log = up.log().slice(logged);
  expect(log.indexOf("ingest   info  stopping")).toBeLessThan(log.indexOf("writer-1 info  stopping"));
  expect(log).not.toContain("died");
  up = await startUp(dataDir);
  expect((await exported(storedId)).equals(expectedFile())).toBe(true);
});

test("a second Ctrl-C ends it at once", async () => {
  const processes = parts.map((part) => up.processOf(part));
  // It can finish nothing.
  process.kill(up.processOf("ingest").pid, "SIGSTOP");
  up.signal("SIGINT");
  await waitFor("it is stopping", () => up.log().includes("stopping (SIGINT)"));
  // Two that come close together count as one.
  const isOver = await waitFor("it has ended", async () => {
    up.signal("SIGINT");
    return Promise.race([up.ended().then(() => true), delay(systemClock, 600).then(() => false)]);
  });
  expect(isOver).toBe(true);
  expect(processes.filter(isStillRunning)).toEqual([]);
});

test("after that, and after kill -9 of the supervisor, the next start finds its way and all data", async () => {
  up = await startUp(dataDir);
  const processes = parts.map((part) => up.processOf(part));
  up.signal("SIGKILL");
  await up.ended();
  up = await startUp(dataDir, "--no-restart");
  expect(processes.filter(isStillRunning)).toEqual([]);
  expect((await exported(storedId)).equals(expectedFile())).toBe(true);
});

test("with --no-restart what dies stays away", async () => {
  const before = up.processOf("writer-1");
  process.kill(before.pid, "SIGKILL");
  await waitFor("its death is told", () =>
    up.log().includes("writer-1 died (killed by SIGKILL) and stays away"),
  );
  expect((await exported(await replay())).equals(expectedFile())).toBe(true);
  expect(up.processOf("writer-1")).toEqual(before);
});

test("what is in the way of a start is told in one sentence, and nothing is left", async () => {
  const args = ["up", "--data-dir", path.join(parent, "third"), "--grpc-port", "0", "--http-port", "0"];
  const { exitCode, err } = await runMillrace(...args, "--database-url", "postgres://nobody@127.0.0.1:1/x");
  expect(exitCode).toBe(1);
  expect(err).toContain("The PostgreSQL of --database-url cannot be brought to the schema");
  expect(await runMillrace("watch", "--data-dir", path.join(parent, "third"))).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining("No Millrace runs on"),
  });
});
