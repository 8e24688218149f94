import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type NatsServer, type NatsServerOptions, startNatsServer } from "./nats-server.ts";

let dataDir: string;
const running: NatsServer[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-nats-"));
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(options: Partial<NatsServerOptions> = {}): Promise<NatsServer> {
  const server = await startNatsServer({ dataDir, port: 0, onLine: () => {}, ephemeral: true, ...options });
  running.push(server);
  return server;
}

test("it takes 8 MiB messages and has JetStream", async () => {
  const server = await start();
  const connection = await connect({ servers: server.url });
  expect(connection.info).toMatchObject({ max_payload: 8 << 20, jetstream: true });
  await connection.close();
});

test("after kill -9 it is back on the same port, and a client with it", async () => {
  const first = await start();
  const connection = await connect({ servers: first.url, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  process.kill(first.pid, "SIGKILL");
  expect(await first.exited).toEqual({ code: null, signal: "SIGKILL" });
  const second = await start({ port: first.port });
  expect(second.url).toBe(first.url);
  await expect.poll(() => connection.flush().then(() => true), { timeout: 20_000 }).toBe(true);
  await connection.close();
});

test("with users declared nobody else gets in", async () => {
  const permission = { allow: ["greetings"] };
  const user = { user: "u", password: "p", publish: permission, subscribe: permission };
  const server = await start({ users: [user] });
  await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow();
  const connection = await connect({ servers: server.url, user: "u", pass: "p" });
  await connection.flush();
  await connection.close();
});

test("a server that does not start says why", async () => {
  const first = await start();
  const other = await mkdtemp(join(tmpdir(), "millrace-nats-"));
  try {
    await expect(startNatsServer({ dataDir: other, port: first.port, onLine: () => {} })).rejects.toThrow(
      "address already in use",
    );
  } finally {
    await rm(other, { recursive: true, force: true });
  }
});
