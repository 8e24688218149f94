import { readdirSync, writeFileSync } from "node:fs";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { Maintainer } from "@millrace/mcp/maintain/maintainer";
import { createRedactor } from "@millrace/mcp/redact/redactor";
import { readMarkers } from "@millrace/mcp/store/journal";
import { file } from "@millrace/mcp/store/layout";
import type { Store } from "@millrace/mcp/store/store";
import {
  check,
  directoryBytes,
  freshRoot,
  type Measured,
  openStore,
  type Parameters,
  percentile,
  populate,
  queuedInvocation,
  terminal,
  timed,
} from "./harness.ts";

const redactor = createRedactor([]);
const day = 365;

function maintainerOf(store: Store, maximumStorageBytes: number): Maintainer {
  return new Maintainer(
    { store, redactor, clock: systemClock, log: silentLog },
    {
      retentionDays: day,
      successEvidenceHours: day * 24,
      failureEvidenceHours: day * 24,
      maximumStorageBytes,
    },
  );
}

/** Opening a store of `count` records from its snapshot and by reading every manifest; point look-ups; a foreign commit. */
export async function startupWorkload(count: number, samples: number): Promise<Measured> {
  const root = freshRoot();
  const writer = openStore(root);
  const ids = await populate(writer, count);
  const bytes = directoryBytes(root);
  maintainerOf(writer, Number.MAX_SAFE_INTEGER).writeSnapshot();
  const walked = await timed(() => openStore(root, false));
  check(walked.value.index.size === count, "the walk finds every record");
  const snapshot = await timed(() => openStore(root, true));
  check(
    snapshot.value.openedFrom === "snapshot" && snapshot.value.index.size === count,
    "so does the snapshot",
  );
  const reader = snapshot.value;
  const foreign = queuedInvocation(writer);
  await writer.create(foreign);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const delta = await timed(() => reader.refresh());
  check(reader.lookup(foreign.request.id)?.state === "queued", "a foreign commit is seen");
  return {
    [`open_snapshot_${count}`]: snapshot.ms,
    [`open_walk_${count}`]: walked.ms,
    [`foreign_commit_${count}`]: delta.ms,
    [`store_bytes_${count}`]: bytes,
    [`lookup_p95_us_${count}`]: lookups(reader, { ids, samples }),
  };
}

/** Microseconds per look-up, 95th percentile over blocks of a thousand: a single one is below the clock's grain. */
function lookups(store: Store, at: { ids: readonly string[]; samples: number }): number {
  const blocks: number[] = [];
  const id = at.ids[Math.floor(at.ids.length / 2)] ?? "";
  for (let block = 0; block < 100; block += 1) {
    const since = systemClock.monotonic();
    for (let index = 0; index < at.samples; index += 1) store.lookup(id);
    blocks.push(((systemClock.monotonic() - since) * 1000) / at.samples);
  }
  return percentile(blocks, 95);
}

/** Retention by size: half of the bytes must go, while look-ups go on. */
export async function gcWorkload(parameters: Parameters): Promise<Measured> {
  const store = openStore(freshRoot());
  const payload = "x".repeat(4096);
  await populate(store, parameters.invocations, (id) =>
    writeFileSync(store.pathOf(id, file.stdout), payload),
  );
  const live = queuedInvocation(store);
  await store.create(live);
  const before = [...store.index.all()].reduce((sum, entry) => sum + 4096 + entry.payloadBytes, 0);
  const target = Math.floor(before / 2);
  const readers = readMeanwhile(store, live.request.id);
  const pass = await timed(() => maintainerOf(store, target).pass());
  const waits = await readers.stop();
  const after = [...store.index.all()].reduce((sum, entry) => sum + 4096 + entry.payloadBytes, 0);
  check(after <= target * 0.8 + 8192, "the low-water mark is reached");
  check(store.lookup(live.request.id)?.state === "queued", "a live record stays");
  check(
    pass.value.kind === "done" && pass.value.removed === parameters.invocations + 1 - store.index.size,
    "each removal is reported",
  );
  check(readdirSync(store.layout.trash).length === 0, "what was removed is off the disk");
  return {
    gc: pass.ms,
    gc_lookup_p95: percentile(waits.lookups, 95),
    gc_inspect_p95: percentile(waits.inspects, 95),
  };
}

/**
 * Looks a record up and reads it, again and again, while other work is done: milliseconds from wanting to having, the wait for
 * a turn of the event loop included, for with one thread that is the wait.
 */
function readMeanwhile(
  store: Store,
  id: string,
): { stop(): Promise<{ lookups: readonly number[]; inspects: readonly number[] }> } {
  const waits = { lookups: [] as number[], inspects: [] as number[] };
  let isDone = false;
  const reading = (async () => {
    while (!isDone) {
      const since = systemClock.monotonic();
      await new Promise<void>((resolve) => setImmediate(resolve));
      store.lookup(id);
      waits.lookups.push(systemClock.monotonic() - since);
      store.read(id);
      waits.inspects.push(systemClock.monotonic() - since);
    }
  })();
  return {
    stop: async () => {
      isDone = true;
      await reading;
      return waits;
    },
  };
}

/** Commits and bytes of one life, and finishing a build and a test of 500 results. */
export async function lifeWorkload(): Promise<Measured> {
  const store = openStore(freshRoot());
  const one = queuedInvocation(store);
  await store.create(one);
  await store.commit({ ...one, state: "starting" });
  await store.commit({ ...one, state: "running" });
  writeFileSync(store.pathOf(one.request.id, file.stdout), "x".repeat(4096));
  await store.commit(terminal({ ...one, state: "running" }));
  const { commits, bytes, recounts } = store.written;
  check(commits === 4, "a life is four commits");
  const times: { build: number[]; test: number[] } = { build: [], test: [] };
  for (let round = 0; round < 50; round += 1) {
    times.build.push(await finishTime(store, {}));
    const tests = Array.from({ length: 500 }, (_, index) => ({
      label: `//benchmark/package:test_${index}`,
      status: "passed",
      duration_ms: index,
      attempts: 1,
      test_log_available: false,
    }));
    times.test.push(await finishTime(store, { tests }));
  }
  return {
    life_commits: commits,
    life_bytes: bytes,
    life_recounts: recounts,
    finalise_build: percentile(times.build, 50),
    finalise_test: percentile(times.test, 50),
  };
}

async function finishTime(store: Store, details: object): Promise<number> {
  const one = queuedInvocation(store, "test");
  await store.create(one);
  await store.commit({ ...one, state: "starting" });
  await store.commit({ ...one, state: "running" });
  const finish = await timed(async () => {
    store.writeSidecar(one.request.id, file.details, details);
    await store.commit(terminal({ ...one, state: "running" }));
  });
  return finish.ms;
}

/** Whole lives through 1, 8 and 32 writers at a time. */
export async function writersWorkload(parameters: Parameters): Promise<Measured> {
  const measured: Measured = {};
  for (const writers of [1, 8, 32]) {
    const store = openStore(freshRoot());
    const known = await life(store);
    const times: number[] = [];
    let left = parameters.concurrencyOperations;
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        times.push((await timed(() => life(store))).ms);
      }
    };
    const all = await timed(() => Promise.all(Array.from({ length: writers }, work)));
    check(store.index.size === parameters.concurrencyOperations + 1, "every life is recorded");
    for (const p of [50, 95, 99]) measured[`writers_${writers}_p${p}`] = percentile(times, p);
    const levels = parameters.concurrencyOperations + 1;
    check(readMarkers(store.layout.changes).length === 1, "one publisher has one marker");
    left = parameters.concurrencyOperations;
    const readers = readMeanwhile(store, known);
    await Promise.all(Array.from({ length: writers }, work));
    const waits = await readers.stop();
    check(store.index.size === levels + parameters.concurrencyOperations, "also while others read");
    measured[`writers_${writers}_lookup_p95`] = percentile(waits.lookups, 95);
    measured[`writers_${writers}_inspect_p95`] = percentile(waits.inspects, 95);
    measured[`writers_${writers}_per_s`] = (parameters.concurrencyOperations * 1000) / all.ms;
  }
  return measured;
}

async function life(store: Store): Promise<string> {
  const one = queuedInvocation(store);
  await store.create(one);
  await store.commit({ ...one, state: "starting" });
  await store.commit({ ...one, state: "running" });
  await store.commit(terminal({ ...one, state: "running" }));
  return one.request.id;
}
