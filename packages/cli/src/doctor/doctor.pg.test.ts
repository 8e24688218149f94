import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { readSettings } from "@millrace/base/config";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { blobSettings } from "@millrace/blobs/settings";
import { heartbeatChannel } from "@millrace/proto/channels";
import { connectBus } from "@millrace/proto/nats-bus";
import { expect, test } from "vitest";
import { freshDatabase } from "../../../../test/services/database.ts";
import { ownNatsServer } from "../../../../test/services/nats.ts";
import { type Check, checkText } from "./check.ts";
import { checkDatabase } from "./database-checks.ts";
import { checkBlobs } from "./disk-checks.ts";
import { checkNats } from "./nats-checks.ts";
import { checkRuntime } from "./runtime-checks.ts";

const levelsOf = (checks: readonly Check[]): Record<string, string> =>
  Object.fromEntries(checks.map(({ of, level }) => [of, level]));
const onDisk = (blobDirectory: string) => ({ ...readSettings(blobSettings, {}), blobDirectory });
const payloadBytesMax = 8 * 1024 * 1024;

test("a migrated database is found so; the tests' own is not durable, and that is told", async () => {
  await using database = await freshDatabase();
  const levels = levelsOf(await checkDatabase(database.url));
  expect(levels).toEqual({
    PostgreSQL: "ok",
    durability: "fail",
    replication: "ok",
    connections: "ok",
    schema: "ok",
    partitions: "ok",
  });
});

test("an empty database lacks the schema; one that is not there cannot be asked", async () => {
  await using database = await freshDatabase({ empty: true });
  expect(levelsOf(await checkDatabase(database.url))).toMatchObject({ schema: "fail" });
  const [check, ...others] = await checkDatabase("postgres://nobody@127.0.0.1:1/none");
  expect(check).toMatchObject({ level: "fail", of: "PostgreSQL" });
  expect(others).toEqual([]);
});

test("NATS without writers is told so, and with one it is heard", async () => {
  await using own = await ownNatsServer();
  const { url } = own.server;
  const world = { clock: systemClock, payloadBytesMax };
  expect(levelsOf(await checkNats(url, world))).toEqual({ NATS: "ok", JetStream: "warn", writers: "fail" });
  const bus = await connectBus({ servers: url, name: "a writer", log: silentLog });
  const beat = setInterval(
    () => bus.publish(heartbeatChannel, { subject: heartbeatChannel.name, message: { writer: "w-1" } }),
    100,
  );
  try {
    const checks = await checkNats(url, { ...world, payloadBytesMax: payloadBytesMax * 2 });
    expect(checks.find(({ of }) => of === "writers")?.found).toBe("1 are heard: w-1");
    expect(checks.find(({ found }) => found.startsWith("max_payload"))?.level).toBe("fail");
  } finally {
    clearInterval(beat);
    await bus.close();
  }
});

test("a blob store is written, read and left empty; a file in its place is told", async () => {
  const directory = await mkdtemp(join(tmpdir(), "millrace-doctor-"));
  const world = { clock: systemClock, random: systemRandom };
  try {
    expect(levelsOf(await checkBlobs(onDisk(directory), world))).toMatchObject({ blobs: "ok" });
    const [check] = await checkBlobs(onDisk(join(directory, "millrace-store.json")), world);
    expect(check?.level).toBe("fail");
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("the runtime at hand is good, an old one is not", async () => {
  expect(levelsOf(await checkRuntime())).toMatchObject({ "Node.js": "ok" });
  expect(levelsOf(await checkRuntime("20.20.2"))).toMatchObject({ "Node.js": "fail" });
});

test("what to do stands below what was found", () => {
  const check: Check = { level: "warn", of: "disk", found: "1 GiB free", todo: "Make room." };
  expect(checkText(check, { isColoured: false }).split("\n")).toEqual([
    "warn  disk         1 GiB free",
    "                   → Make room.",
  ]);
});
