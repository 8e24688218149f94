import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

let dataDir: string;
const running: EmbeddedPostgres[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-embedded-"));
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop("immediate");
  await rm(dataDir, { recursive: true, force: true });
});

async function start(port = 0): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, port, onLine: () => {}, ephemeral: true });
  running.push(server);
  return server;
}

/** One statement on a connection of its own. */
async function ask(
  url: string,
  statement: string,
  options: postgres.Options<never> = {},
): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, ...options });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end();
  }
}

test("commits are durable; TCP asks for the password; the socket lets our own user in; its port is taken", async () => {
  const server = await start();
  const rows = await ask(
    server.url,
    "select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')",
  );
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toMatchObject({ setting: "on" });
  const withoutPassword = new URL(server.url);
  withoutPassword.password = "wrong";
  await expect(ask(withoutPassword.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
  const bySocket = { host: server.socketDir, port: server.port, username: "postgres", database: "millrace" };
  expect(await ask("", "select 1 as one", bySocket)).toEqual([{ one: 1 }]);
  const second = startEmbeddedPostgres({ dataDir: "/nonexistent", port: server.port, onLine: () => {} });
  await expect(second).rejects.toThrow(`port ${server.port} of 127.0.0.1 is taken`);
});

test("it survives kill -9 with what was committed, on the same port and with the same password", async () => {
  const first = await start();
  await ask(first.url, "create table kept as select 42 as answer");
  process.kill(first.pid, "SIGKILL");
  expect(await first.exited).toEqual({ code: null, signal: "SIGKILL" });
  const second = await start(first.port);
  expect(second.url).toBe(first.url);
  expect(await ask(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
});

test("what an earlier life left does not keep it from starting", async () => {
  await mkdir(join(dataDir, "postgres.new", "base"), { recursive: true });
  const first = await start();
  // Its supervisor died: it is shut down before the next one starts.
  const second = await start();
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expect(await ask(second.url, "select current_database() as name")).toEqual([{ name: "millrace" }]);
  await second.stop();
  // Its number now belongs to another program: this one.
  await writeFile(join(dataDir, "postgres", "postmaster.pid"), `${process.pid}\n${dataDir}\n`);
  const third = await start();
  expect(await ask(third.url, "select 1 as one")).toEqual([{ one: 1 }]);
});
