import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type OwnNatsServer, ownNatsServer } from "../../../test/services/nats.ts";
import { startNatsServer } from "../../cli/src/services/nats-server.ts";
import { failPointNames } from "./fail-point-names.ts";
import { build, request } from "./front-door/bes-messages.fixture.ts";
import { StreamClient } from "./front-door/clients.fixture.ts";
import { until } from "./front-door/door.fixture.ts";
import { WritersOnNats } from "./writers-on-nats.fixture.ts";

const mainFile = new URL("./main.ts", import.meta.url);

interface Ports {
  readonly grpcPort: number;
  readonly opsPort: number;
}

let nats: OwnNatsServer;
let directory: string;
const children: ChildProcess[] = [];
const others: (() => Promise<void>)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-ingest-"));
  nats = await ownNatsServer();
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  for (const stop of others.splice(0)) await stop();
  await nats[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function start(environment: Record<string, string> = {}): ChildProcess {
  const child = fork(mainFile, {
    env: {
      PATH: process.env.PATH,
      MILLRACE_NATS_URL: nats.server.url,
      MILLRACE_GRPC_PORT: "0",
      MILLRACE_OPS_PORT: "0",
      MILLRACE_WORKER_THREADS: "2",
      MILLRACE_BLOB_DIRECTORY: directory,
      MILLRACE_FAIL_POINTS: "on",
      MILLRACE_DRAIN_DEADLINE_MS: "2000",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  children.push(child);
  return child;
}

async function ready(child: ChildProcess): Promise<Ports> {
  const [message] = (await once(child, "message")) as [{ kind: string } & Ports];
  expect(message.kind).toBe("ready");
  return message;
}

async function writers(): Promise<WritersOnNats> {
  const started = await WritersOnNats.start(nats.server.url);
  others.push(() => started.stop());
  return started;
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

describe("the ingest process", () => {
  it("takes builds, says so in its metrics, renews its lease, and drains on SIGTERM", async () => {
    const model = await writers();
    const child = start();
    const { grpcPort, opsPort } = await ready(child);
    const builds = ["a", "b", "c", "d"].map(async (invocationId) => {
      const bazel = new StreamClient(grpcPort);
      bazel.send(...build(500, { invocationId }));
      bazel.halfClose();
      expect((await bazel.ended).code).toBe(0);
      expect(bazel.acks).toEqual(numbers(1, 500));
      expect(model.stored.get(invocationId)).toMatchObject({ committed: 500, finished: true });
    });
    await Promise.all(builds);
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    expect(metrics).toMatch(/millrace_front_door_events_total\{process="ingest"\} 2000/);
    expect((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status).toBe(200);
    const idle = new StreamClient(grpcPort);
    await idle.headers;
    child.kill("SIGTERM");
    expect((await idle.ended).code).toBe(14);
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(model.leases.map((lease) => lease.leaving)).toEqual([false, true]);
  });

  it("loses a thread and takes the stream up again where it was committed", async () => {
    const model = await writers();
    const { grpcPort, opsPort } = await ready(start({ MILLRACE_WORKER_THREADS: "1" }));
    const sent = build(300, { invocationId: "a" });
    const bazel = new StreamClient(grpcPort);
    bazel.send(...sent.slice(0, 200));
    await until(() => bazel.acks.length === 200);
    const crash = await fetch(`http://127.0.0.1:${opsPort}/debug/crash-thread/0`, { method: "POST" });
    expect(crash.status).toBe(202);
    expect(await bazel.ended).toMatchObject({ code: 14, details: expect.stringMatching(/thread/) });
    const again = new StreamClient(grpcPort);
    again.send(...sent.slice(150));
    again.halfClose();
    expect((await again.ended).code).toBe(0);
    expect(again.acks).toEqual(numbers(151, 300));
    expect(model.stored.get("a")).toMatchObject({ committed: 300, finished: true });
  });

  it.each(failPointNames)("killed at %s, the next one goes on behind what was committed", async (name) => {
    const model = await writers();
    const dying = start({ MILLRACE_INGEST_FAIL_POINT: `${name}:2` });
    const died = once(dying, "exit");
    const first = await ready(dying);
    const sent = build(300, { invocationId: "a" });
    const bazel = new StreamClient(first.grpcPort);
    bazel.send(...sent.slice(0, 1));
    await until(() => bazel.acks.length === 1);
    bazel.send(...sent.slice(1));
    expect(await died).toEqual([null, "SIGKILL"]);
    await bazel.ended;
    const acked = bazel.acks.length;
    expect(bazel.acks).toEqual(numbers(1, acked));
    expect(model.stored.get("a")?.committed).toBeGreaterThanOrEqual(acked);
    const again = new StreamClient((await ready(start())).grpcPort);
    // One acked event comes again: a stream without any would be refused, and all 300 may have been acked.
    again.send(...sent.slice(acked - 1));
    again.halfClose();
    expect((await again.ended).code).toBe(0);
    expect(again.acks).toEqual(numbers(acked, 300));
    expect(model.stored.get("a")).toMatchObject({ committed: 300, finished: true });
  });

  it("started while NATS is away holds its streams and serves them when it is there", async () => {
    const { url } = nats.server;
    await nats.server.stop();
    const { grpcPort } = await ready(start());
    const bazel = new StreamClient(grpcPort);
    bazel.send(...build(10));
    bazel.halfClose();
    await bazel.headers;
    const again = {
      dataDir: nats.dataDir,
      port: Number(new URL(url).port),
      onLine: () => {},
      ephemeral: true,
    };
    const server = await startNatsServer(again);
    others.push(async () => {
      await server.stop();
    });
    const model = await writers();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toEqual(numbers(1, 10));
    expect(model.stored.get("inv-1")).toMatchObject({ committed: 10 });
  });

  it("keeps streams open while writers are away, and acknowledges when they are back", async () => {
    const first = await writers();
    const { grpcPort } = await ready(start());
    const bazel = new StreamClient(grpcPort);
    bazel.send(request({ sequence: 1 }));
    await until(() => bazel.acks.length === 1);
    await first.stop();
    bazel.send(request({ sequence: 2 }), request({ sequence: 3, isLast: true }));
    bazel.halfClose();
    const second = await writers();
    second.stored.set("inv-1", { attemptId: 1, committed: 1, finished: false });
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toEqual([1, 2, 3]);
  });

  it("names what is wrong with its settings and ends", async () => {
    const child = start({ MILLRACE_GRPC_PORT: "many", MILLRACE_OPS_PORT: "70000" });
    const chunks: Buffer[] = [];
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
    const [code] = await once(child, "exit");
    expect(code).toBe(1);
    const text = Buffer.concat(chunks).toString();
    expect(text).toMatch(/MILLRACE_GRPC_PORT="many"/);
    expect(text).toMatch(/MILLRACE_OPS_PORT="70000"/);
  });
});
