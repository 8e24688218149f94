import { execFile, execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { resolveUri } from "@millrace/mcp/evidence/local-file";
import { Maintainer } from "@millrace/mcp/maintain/maintainer";
import { fileStart, readRows } from "@millrace/mcp/pages/row-page";
import { createRedactor } from "@millrace/mcp/redact/redactor";
import { checkWorkspace, realRoots } from "@millrace/mcp/run/workspace";
import { Store } from "@millrace/mcp/store/store";
import { afterEach, beforeEach, expect, test } from "vitest";

const child = path.join(import.meta.dirname, "life.child.ts");
let home = "";

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "millrace-mcp-faults-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function open(): Store {
  return new Store({
    root: path.join(home, "cache"),
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
}

function maintainer(store: Store, maximumStorageBytes = 1e12): Maintainer {
  return new Maintainer(
    { store, redactor: createRedactor([]), clock: systemClock, log: silentLog },
    { retentionDays: 7, successEvidenceHours: 1000, failureEvidenceHours: 1000, maximumStorageBytes },
  );
}

/** Lets a process live one invocation and die at `step`; resolves with what it printed. */
function live(step: string, other = ""): Promise<string[]> {
  return new Promise((resolve) => {
    execFile(process.execPath, [child, path.join(home, "cache"), step, other], (_error, stdout) => {
      resolve(stdout.trim().split("\n"));
    });
  });
}

test.each([
  ["create-announced", undefined],
  ["created", "interrupted"],
  ["starting-announced", "interrupted"],
  ["starting", "interrupted"],
  ["running", "interrupted"],
  ["evidence", "interrupted"],
  ["sidecar", "interrupted"],
  ["final-announced", "interrupted"],
  ["final-written", "succeeded"],
  ["final", "succeeded"],
])(
  "killed at %s: the next maintainer makes it %s, for itself, for others, and after a restart",
  async (step, state) => {
    const witness = open();
    const [id = ""] = await live(step);
    const next = open();
    expect((await maintainer(next).pass()).kind).toBe("done");
    expect(next.lookup(id)?.state).toBe(state);
    await expect
      .poll(() => {
        witness.refresh();
        return witness.lookup(id)?.state;
      })
      .toBe(state);
    const restarted = open();
    expect(restarted.openedFrom).toBe("snapshot");
    expect(restarted.lookup(id)?.state).toBe(state);
    // Nothing of the dead process is left but its record.
    const journals = readdirSync(next.layout.changes).filter((name) => name.endsWith(".journal"));
    expect(journals).toHaveLength(3);
    if (state !== undefined) {
      expect(readdirSync(next.directory(id)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    }
    for (const store of [witness, next, restarted]) await store.close();
  },
);

test("a removal whose maker died before its notice is seen by all", async () => {
  const [id = ""] = await live("final");
  const cleaner = open();
  await maintainer(cleaner).pass();
  const witness = open();
  expect(witness.lookup(id)?.state).toBe("succeeded");
  await live("remove", id);
  const next = open();
  await maintainer(next).pass();
  await expect
    .poll(() => {
      witness.refresh();
      return witness.lookup(id);
    })
    .toBeUndefined();
  for (const store of [cleaner, witness, next]) await store.close();
});

function canMount(): boolean {
  try {
    execFileSync("unshare", ["-Urm", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // No user namespaces here.
  }
}

test.skipIf(!canMount()).each([
  ["a full disk", "mount -t tmpfs -o size=256k tmpfs", "fill", /disk is full|ENOSPC/],
  ["a read-only root", "mount -t tmpfs -o ro tmpfs", "none", /cannot use|read-only|no permission/],
  ["a root that becomes read-only", "mount -t tmpfs tmpfs", "read-only", /EROFS|read-only|no permission/],
])("%s is told as what it is", async (_name, mount, step, said) => {
  const cache = path.join(home, "cache");
  mkdirSync(cache);
  const script = `${mount} "${cache}" && exec "${process.execPath}" "${child}" "${cache}" ${step}`;
  const output = await new Promise<string>((resolve) => {
    execFile("unshare", ["-Urm", "sh", "-c", script], (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  expect(output).toMatch(said);
});

test.skipIf(!canMount())("retention makes room on a disk that is full to the last byte", async () => {
  const cache = path.join(home, "cache");
  mkdirSync(cache);
  const full = path.join(import.meta.dirname, "full-disk.child.ts");
  const script = `mount -t tmpfs -o size=1m tmpfs "${cache}" && exec "${process.execPath}" "${full}" "${cache}"`;
  const output = await new Promise<string>((resolve) => {
    execFile("unshare", ["-Urm", "sh", "-c", script], (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  const [filled, refused, report, room] = output.split("\n");
  expect(filled).toContain("ENOSPC");
  expect(refused).toContain("the disk is full");
  expect(report).toMatch(/"removed":([89]|1\d),.* left [678]$/);
  expect(room).toBe("there is room again");
});

test("upkeep beside damaged and newer records: told, kept, and not in the way of the rest", async () => {
  const [damaged = ""] = await live("final");
  const [newer = ""] = await live("running");
  const [orphan = ""] = await live("running");
  const store = open();
  const manifest = (id: string): string => store.pathOf(id, "manifest.json");
  writeFileSync(manifest(damaged), '{"schema_version":1,"request"');
  writeFileSync(manifest(newer), '{"schema_version":99}');
  const next = open();
  const settings = {
    retentionDays: 0,
    successEvidenceHours: 0,
    failureEvidenceHours: 0,
    maximumStorageBytes: 1,
  };
  const upkeep = new Maintainer(
    { store: next, redactor: createRedactor([]), clock: systemClock, log: silentLog },
    settings,
  );
  expect(await upkeep.pass()).toMatchObject({ kind: "done", recovered: 1 });
  expect(await upkeep.pass()).toMatchObject({ kind: "done" });
  expect([...next.damaged.keys()].sort()).toEqual([damaged, newer].sort());
  expect(readFileSync(manifest(newer), "utf8")).toBe('{"schema_version":99}');
  expect(readFileSync(manifest(damaged), "utf8")).toContain('"request"');
  expect(() => next.read(newer)).toThrow("use a newer millrace");
  expect(next.lookup(orphan)).toBeUndefined();
  for (const one of [store, next]) await one.close();
});

test("a directory of ours that is a link is refused, wherever it stands", async () => {
  const elsewhere = path.join(home, "elsewhere");
  mkdirSync(elsewhere);
  for (const name of ["invocations", "changes", "trash"]) {
    const cache = path.join(home, "cache");
    mkdirSync(cache, { recursive: true });
    symlinkSync(elsewhere, path.join(cache, name));
    expect(() => open()).toThrow("a link");
    rmSync(cache, { recursive: true });
  }
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("links do not lead out: of the workspace roots, nor of the output base", () => {
  const inside = path.join(home, "roots");
  const outside = path.join(home, "outside");
  mkdirSync(inside);
  mkdirSync(outside);
  writeFileSync(path.join(outside, "WORKSPACE"), "");
  writeFileSync(path.join(outside, "secret.log"), "secret");
  symlinkSync(outside, path.join(inside, "link"));
  symlinkSync(path.join(outside, "secret.log"), path.join(inside, "test.log"));
  expect(() => checkWorkspace(path.join(inside, "link"), realRoots([inside]))).toThrow(
    "outside the allowed roots",
  );
  const uri = `file://${path.join(inside, "test.log")}`;
  expect(resolveUri(uri, realRoots([inside])).kind).toBe("outside");
});

test("upkeep against readers: a page under way is not broken, a removed record is told as such", async () => {
  const store = open();
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    const id = store.newId();
    ids.push(id);
    const request = {
      id,
      workspace: "/ws",
      command: "query",
      timeout_ms: 1,
      requested_at_ms: systemClock.now(),
    };
    const invocation = { request, owner: store.publisher.id, payload_bytes: 0 };
    await store.create({ ...invocation, state: "queued" });
    await store.commit({ ...invocation, state: "starting" });
    await store.commit({ ...invocation, state: "running" });
    writeFileSync(store.pathOf(id, "stdout.log"), "row\n".repeat(1000));
    await store.commit({ ...invocation, state: "succeeded", finished_at_ms: systemClock.now() });
  }
  const read = (id: string) =>
    readRows({
      ...{ path: store.pathOf(id, "stdout.log"), from: fileStart, limit: 10 },
      ...{ redact: (line: string) => line, timeBudgetMs: 100, clock: systemClock },
    }).rows.length;
  let isDone = false;
  const seen = new Set<number>();
  const reading = (async () => {
    while (!isDone) {
      for (const id of ids) seen.add(read(id));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  // Another server's look-ups meanwhile: what it still lists it can read, or it is told that it was removed.
  const other = open();
  const report = await maintainer(store, 100_000).pass();
  isDone = true;
  await reading;
  for (const { id } of [...other.index.all()]) {
    if (store.lookup(id) === undefined) expect(() => other.read(id)).toThrow("retention has removed it");
    else expect(other.read(id).state).toBe("succeeded");
  }
  await expect
    .poll(() => {
      other.refresh();
      return other.index.size;
    })
    .toBe(store.index.size);
  await other.close();
  expect(report).toMatchObject({ kind: "done" });
  // Whole pages or nothing.
  expect([...seen].every((count) => count === 10 || count === 0)).toBe(true);
  expect(() => store.read(ids[0] ?? "")).toThrow("retention has removed it");
  expect(store.read(ids.at(-1) ?? "").state).toBe("succeeded");
  await store.close();
});

test("one maintainer at a time", async () => {
  const [one, two] = [open(), open()];
  const passes = await Promise.all([maintainer(one).pass(), maintainer(two).pass()]);
  expect(passes.map((pass) => pass.kind).sort()).toEqual(["busy", "done"]);
  await one.close();
  await two.close();
});
