import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { file } from "./layout.ts";
import type { Invocation } from "./record.ts";
import { writeSnapshot } from "./snapshot.ts";
import { Store } from "./store.ts";
import { listShards } from "./walk.ts";

let root = "";
const stores: Store[] = [];

beforeEach(() => {
  root = path.join(mkdtempSync(path.join(tmpdir(), "millrace-mcp-store-")), "cache");
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(path.dirname(root), { recursive: true, force: true });
});

function open(useSnapshot = true): Store {
  const store = new Store({ root, clock: systemClock, random: systemRandom, log: silentLog, useSnapshot });
  stores.push(store);
  return store;
}

function queued(store: Store): Invocation {
  return {
    request: {
      id: store.newId(),
      workspace: "/ws",
      command: "build",
      arguments: ["//..."],
      timeout_ms: 1000,
      requested_at_ms: systemClock.now(),
    },
    owner: store.publisher.id,
    state: "queued",
    payload_bytes: 0,
  };
}

async function wholeLife(store: Store): Promise<string> {
  const invocation = queued(store);
  await store.create(invocation);
  await store.commit({ ...invocation, state: "starting" });
  await store.commit({ ...invocation, state: "running" });
  writeFileSync(store.pathOf(invocation.request.id, file.stdout), "x".repeat(4096));
  await store.commit({ ...invocation, state: "succeeded", finished_at_ms: systemClock.now() });
  return invocation.request.id;
}

test("a record survives its process, and is private", async () => {
  const store = open();
  const id = await wholeLife(store);
  const again = open();
  expect(again.read(id).state).toBe("succeeded");
  expect(again.lookup(id)?.payloadBytes).toBe(4096);
  expect(statSync(again.directory(id)).mode & 0o777).toBe(0o700);
  expect(statSync(again.pathOf(id, file.manifest)).mode & 0o777).toBe(0o600);
  expect(statSync(root).mode & 0o777).toBe(0o700);
});

test("a life is four manifest writes", async () => {
  const store = open();
  await wholeLife(store);
  expect(store.written.commits).toBe(4);
  expect(store.written.recounts).toBe(1);
});

test("another store's commits arrive as deltas", async () => {
  const one = open();
  const two = open();
  const id = await wholeLife(one);
  expect(two.lookup(id)).toBeUndefined();
  await expect
    .poll(() => {
      two.refresh();
      return two.lookup(id)?.state;
    })
    .toBe("succeeded");
});

test("no transition leaves a final state", async () => {
  const store = open();
  const id = await wholeLife(store);
  await expect(store.commit({ ...store.read(id), state: "running" })).rejects.toThrow("cannot write");
  expect(store.read(id).state).toBe("succeeded");
});

test("a damaged or newer record is told, not skipped, and does not keep the others away", async () => {
  const store = open();
  const damaged = await wholeLife(store);
  const newer = await wholeLife(store);
  const good = await wholeLife(store);
  writeFileSync(store.pathOf(damaged, file.manifest), '{"schema_version":1,');
  writeFileSync(store.pathOf(newer, file.manifest), '{"schema_version":99}');
  const again = open();
  expect(again.damaged.get(damaged)).toContain("is not JSON");
  expect(again.damaged.get(newer)).toContain("schema 99");
  expect(() => again.read(damaged)).toThrow("is not JSON");
  expect(again.lookup(good)?.state).toBe("succeeded");
});

test("a link in place of the cache root is refused", async () => {
  const { symlinkSync, mkdirSync } = await import("node:fs");
  const elsewhere = path.join(path.dirname(root), "elsewhere");
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, root);
  expect(() => open()).toThrow("a link");
});

test("telemetry reaches the manifest without a commit of its own for each count", async () => {
  const store = open();
  const id = await wholeLife(store);
  for (let i = 0; i < 50; i += 1) store.count(id, "inspect_calls", 1);
  await store.flushTelemetry();
  expect(store.read(id).metrics?.inspect_calls).toBe(50);
  expect(store.written.commits).toBe(5);
});

test("no temporary file is left behind", async () => {
  const store = open();
  const id = await wholeLife(store);
  expect(readdirSync(store.directory(id)).sort()).toEqual([file.manifest, file.stdout]);
});

test("what was added or removed behind the snapshot's back is seen at the next start", async () => {
  const store = open();
  const [gone, kept] = [await wholeLife(store), await wholeLife(store)];
  const journals = new Map(store.journals).set(store.publisher.id, store.publisher.settled);
  const shards = listShards(store.layout);
  writeSnapshot(store.layout.snapshot, { journals, shards, entries: [...store.index.oldest()] });
  // As a restored backup or a person does it: without a word in any journal.
  rmSync(store.directory(gone), { recursive: true });
  const copy = `${kept.slice(0, -12)}${kept.slice(-12).replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}`;
  cpSync(store.directory(kept), store.directory(copy), { recursive: true });
  const manifest = store.pathOf(copy, file.manifest);
  writeFileSync(manifest, readFileSync(manifest, "utf8").replaceAll(kept, copy));
  const again = open();
  expect(again.openedFrom).toBe("snapshot");
  expect(again.lookup(gone)).toBeUndefined();
  expect(again.lookup(copy)?.state).toBe("succeeded");
});
