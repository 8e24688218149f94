import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "@millrace/base/random";
import { createKey } from "@millrace/db/api-keys";
import { connect } from "@millrace/db/connect";
import { expect, test } from "vitest";
import { freshDatabase } from "../../../test/services/database.ts";

test("the process, told that open mode is off, wants a key", async () => {
  await using store = await freshDatabase();
  const database = connect({ url: store.url, max: 1, name: "keys" });
  const order = { projectId: "default", name: "", scopes: ["read"], expiresInSeconds: undefined } as const;
  const key = await createKey(database.orm, order, systemRandom);
  await database.close();
  const directory = await mkdtemp(join(tmpdir(), "millrace-api-"));
  const child = fork(join(import.meta.dirname, "main.ts"), {
    env: {
      MILLRACE_OPEN_MODE: "false",
      MILLRACE_HTTP_PORT: "0",
      MILLRACE_DATABASE_URL: store.url,
      MILLRACE_NATS_URL: "nats://127.0.0.1:1",
      MILLRACE_BLOB_DIRECTORY: directory,
    },
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    const [ready] = (await once(child, "message")) as [{ httpPort: number }];
    const list = `http://127.0.0.1:${ready.httpPort}/api/v1/projects/default/builds`;
    expect((await fetch(list)).status).toBe(401);
    expect((await fetch(list, { headers: { "x-api-key": key?.text ?? "" } })).status).toBe(200);
    expect((await fetch(list, { headers: { authorization: `Bearer ${key?.text}` } })).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${ready.httpPort}/healthz`)).status).toBe(200);
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await rm(directory, { recursive: true, force: true });
  }
});
