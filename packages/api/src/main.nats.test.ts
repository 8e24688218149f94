import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { every, systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { loadZstd } from "@millrace/base/zstd";
import { connect } from "@millrace/db/connect";
import type { Bus } from "@millrace/proto/bus";
import { liveChannel, liveSubject } from "@millrace/proto/channels";
import { connectBus } from "@millrace/proto/nats-bus";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type SeededBuild, seedBuild } from "../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../test/services/database.ts";
import { type OwnNatsServer, ownNatsServer } from "../../../test/services/nats.ts";
import { startNatsServer } from "../../cli/src/services/nats-server.ts";

/** Stands between the process and PostgreSQL, so that the database can go away and come back. */
class Door {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private readonly to: { host: string; port: number };
  port = 0;
  constructor(to: { host: string; port: number }) {
    this.to = to;
  }
  async open(): Promise<void> {
    this.server = createServer((inside) => {
      const outside = connectSocket(this.to);
      for (const [one, other] of [
        [inside, outside],
        [outside, inside],
      ] as const) {
        this.sockets.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
        one.pipe(other);
      }
    }).listen(this.port, "127.0.0.1");
    await once(this.server, "listening");
    this.port = (this.server.address() as AddressInfo).port;
  }
  close(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }
}

let store: TestDatabase;
let nats: OwnNatsServer;
let door: Door;
let directory: string;
let child: ChildProcess;
let origin: string;
let build: SeededBuild;
const zstd = await loadZstd();

beforeAll(async () => {
  store = await freshDatabase();
  nats = await ownNatsServer();
  directory = await mkdtemp(join(tmpdir(), "millrace-api-"));
  const url = new URL(store.url);
  door = new Door({ host: url.hostname, port: Number(url.port) });
  await door.open();
  url.hostname = "127.0.0.1";
  url.port = String(door.port);
  child = fork(join(import.meta.dirname, "main.ts"), {
    env: {
      MILLRACE_HTTP_PORT: "0",
      MILLRACE_DATABASE_URL: url.href,
      MILLRACE_NATS_URL: nats.server.url,
      MILLRACE_BLOB_DIRECTORY: directory,
    },
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [ready] = (await once(child, "message")) as [{ kind: string; httpPort: number }];
  expect(ready.kind).toBe("ready");
  origin = `http://127.0.0.1:${ready.httpPort}`;
  const database = connect({ url: store.url, max: 2, name: "seed" });
  build = await seedBuild({ database, zstd }, { invocationId: randomUUID() });
});

afterAll(async () => {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
  door.close();
  await nats[Symbol.asyncDispose]();
  await store.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Reads server-sent events until one fits. */
async function waitForEvent(
  reader: AsyncIterator<Uint8Array>,
  fits: (frame: string) => boolean,
): Promise<string> {
  let text = "";
  for (;;) {
    const { done, value } = await reader.next();
    if (done === true) throw new Error(`the stream ended: ${text}`);
    text += Buffer.from(value).toString();
    const frame = text.split("\n\n").find(fits);
    if (frame !== undefined) return frame;
  }
}

function sayChanged(bus: Bus, label: string): void {
  bus.publish(liveChannel, {
    subject: liveSubject("default", build.invocationId),
    message: { project: "default", invocationId: build.invocationId, attempt: 1, changedLabels: [label] },
  });
}

async function watch(path: string): Promise<AsyncIterator<Uint8Array>> {
  const answer = await fetch(`${origin}/api/v1/projects/default${path}`);
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  if (answer.body === null) throw new Error("no body");
  return answer.body[Symbol.asyncIterator]();
}

const eventually = { timeout: 60_000, interval: 50 };

test("health needs no database, readiness does, and both say so", async () => {
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  expect((await fetch(`${origin}/readyz`)).status).toBe(200);
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  expect(metrics).toContain("millrace_api_request_seconds");
});

test("a digest on NATS moves a page, and a lost one only delays it", async () => {
  const viewer = await watch(`/invocations/${build.invocationId}/live`);
  await waitForEvent(viewer, (frame) => frame.includes("event: state"));
  const bus = await connectBus({ servers: nats.server.url, name: "test", log: silentLog });
  await build.targets([{ label: "//a", status: "built" }]);
  sayChanged(bus, "//a");
  const state = await waitForEvent(viewer, (frame) =>
    frame.includes(`"lastSequence":${build.lastSequence},`),
  );
  expect(state).toContain('"targets":{"total":1,"done":1,"failed":0}');
  await bus.close();
  await build.move();
  await waitForEvent(viewer, (frame) => frame.includes(`id: 1.${build.lastSequence}.running`));
  await viewer.return?.();
});

test("without NATS pages follow by heartbeats, and listen again when it is back", async () => {
  const viewer = await watch("/live");
  await nats.server.stop();
  await build.move();
  await waitForEvent(viewer, (frame) => frame.includes(`id: 1.${build.lastSequence}.running`));
  expect((await fetch(`${origin}/readyz`)).status).toBe(200);
  await viewer.return?.();

  const { port } = nats.server;
  const again = await startNatsServer({ dataDir: nats.dataDir, port, onLine: () => {}, ephemeral: true });
  const page = await watch(`/invocations/${build.invocationId}/live`);
  const bus = await connectBus({ servers: again.url, name: "test", log: silentLog });
  const cancel = every(systemClock, 100, () => sayChanged(bus, "//only-a-digest-knows"));
  await waitForEvent(page, (frame) => frame.includes("//only-a-digest-knows"));
  cancel();
  await bus.close();
  await page.return?.();
  await again.stop();
});

test("without a database every read is a 503 that says so, and works again when it is back", async () => {
  const path = `${origin}/api/v1/projects/default/builds`;
  expect((await fetch(path)).status).toBe(200);
  door.close();
  const away = await fetch(path);
  expect(away.status).toBe(503);
  expect(away.headers.get("content-type")).toBe("application/problem+json");
  expect(Number(away.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await away.json()).toMatchObject({ code: "database-away" });
  expect((await fetch(`${origin}/readyz`)).status).toBe(503);
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  await door.open();
  await vi.waitFor(async () => expect((await fetch(path)).status).toBe(200), eventually);
});

test("SIGTERM ends open streams and the process", async () => {
  const viewer = await watch("/live");
  child.kill("SIGTERM");
  await expect(waitForEvent(viewer, () => false)).rejects.toThrow();
  const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
  expect(code).toBe(0);
});
