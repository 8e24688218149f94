import { Projector } from "@millrace/actors/project/projector";
import { RowsBuilder } from "@millrace/actors/project/rows-builder";
import { hotLevel, loadZstd } from "@millrace/base/zstd";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { beforeAll, expect, test } from "vitest";
import { eventsOfBuild } from "../oracle/sent-events.ts";
import { eventsOf, recipeOf } from "./recipe.ts";
import type { Workload } from "./workload.ts";
import { workloadNamed } from "./workloads.ts";

const names = ["tiny", "real", "log"] as const;
const workloads = new Map<string, Workload>();

beforeAll(() => {
  for (const name of [...names, "huge"]) workloads.set(name, workloadNamed(name));
});

function workloadOf(name: string): Workload {
  const workload = workloads.get(name);
  if (workload === undefined) throw new Error(`${name} was not made`);
  return workload;
}

/** Results of a workload can only be compared while its hash stays: change a workload on purpose or not at all. */
test.each([
  ["tiny", "bddaad4edaa30f8e", 44, 64],
  ["real", "4d909cecf35f5ecb", 600, 64],
  ["log", "e8bcaee42c829a6f", 250, 16],
  ["huge", "814c66765b5f3a49", 500_000, 2],
])("%s is what it was: hash %s, %d events, %d variants", (name, hash, eventsPerBuild, variants) => {
  expect(workloadOf(name)).toMatchObject({ name, hash, eventsPerBuild, variants });
});

test.each(names)("each build of %s has the events of its recipe", (name) => {
  const workload = workloadOf(name);
  const { ...expected } = recipeOf(name);
  for (let variant = 0; variant < workload.variants; variant += 1) {
    const found = Object.fromEntries(Object.keys(expected).map((kind) => [kind, 0]));
    for (const payload of workload.payloads(variant)) {
      const kind = build_event_stream.BuildEvent.decode(payload).payload ?? "none";
      found[kind] = (found[kind] ?? 0) + 1;
    }
    expect(found).toEqual(expected);
  }
  expect(eventsOf(expected)).toBe(workload.eventsPerBuild);
});

test.each(names)("events of %s are as large, and compress no better, than they must", async (name) => {
  const workload = workloadOf(name);
  for (const variant of [0, 9, workloadOf(name).variants - 1]) {
    const { meanBytes, ratio } = await measure([...workload.payloads(variant)]);
    expect(meanBytes).toBeGreaterThan(450);
    expect(ratio).toBeLessThan(5);
  }
});

/** Mean size, and compressibility in blocks of 64 KB, as batches are compressed. */
async function measure(payloads: readonly Uint8Array[]): Promise<{ meanBytes: number; ratio: number }> {
  const zstd = await loadZstd();
  const bytes = Buffer.concat(payloads);
  let compressed = 0;
  for (let at = 0; at < bytes.length; at += blockBytes) {
    compressed += (await zstd.compress(bytes.subarray(at, at + blockBytes), hotLevel)).length;
  }
  return { meanBytes: bytes.length / (payloads.length + 1), ratio: bytes.length / compressed };
}

const blockBytes = 64 * 1_024;

const startMs = 1_800_000_000_000;
const nothing = new Uint8Array(0);

test.each(names)("what the server stores of %s is what was sent, with the planted secrets masked", (name) => {
  const workload = workloadOf(name);
  for (let variant = 0; variant < workload.variants; variant += 1) {
    const sent = [...eventsOfBuild(workload.payloads(variant), startMs)];
    const expected = [...eventsOfBuild(workload.storedPayloads(variant), startMs)];
    const stored = projectedEvents(sent);
    expect(stored.length).toBe(expected.length);
    for (const [index, event] of stored.entries()) {
      expect(Buffer.compare(event, expected[index] ?? nothing), `${variant}: event ${index + 1}`).toBe(0);
    }
    const changed = expected.filter((event, index) => Buffer.compare(event, sent[index] ?? nothing) !== 0);
    expect(changed.length).toBe(changedEvents);
  }
});

/** Three command lines and the first progress event. */
const changedEvents = 4;

function projectedEvents(sent: readonly Uint8Array[]): Uint8Array[] {
  const events: Uint8Array[] = [];
  const rows = new RowsBuilder();
  const sink = {
    rows,
    log: () => {},
    event: (bytes: Uint8Array, { undecoded }: { undecoded: boolean }) => {
      expect(undecoded).toBe(false);
      events.push(bytes);
    },
  };
  const projector = new Projector(undefined, () => sink);
  for (const event of sent) projector.offer(event);
  return events;
}

test("a build of huge has its events, each of its targets once, and is as large", async () => {
  const workload = workloadOf("huge");
  const found = Object.fromEntries(Object.keys(recipeOf("huge")).map((kind) => [kind, 0]));
  const labels = new Set<string>();
  const counts = new Set<number>();
  const middle: Uint8Array[] = [];
  let events = 0;
  for (const payload of workload.payloads(1)) {
    const { id, payload: kind = "none" } = build_event_stream.BuildEvent.decode(payload);
    found[kind] = (found[kind] ?? 0) + 1;
    if (kind === "completed") labels.add(id?.targetCompleted?.label ?? "");
    if (kind === "progress") counts.add(id?.progress?.opaqueCount ?? 0);
    if (events >= 300_000 && events < 302_000) middle.push(payload);
    events += 1;
  }
  const recipe = recipeOf("huge");
  expect(found).toEqual(recipe);
  expect([labels.size, counts.size]).toEqual([recipe.completed, recipe.progress]);
  const { meanBytes, ratio } = await measure(middle);
  expect(meanBytes).toBeGreaterThan(450);
  expect(ratio).toBeLessThan(5);
});

test("the sent and the stored events of huge differ where secrets are planted, in its first events", () => {
  const workload = workloadOf("huge");
  const stored = workload.storedPayloads(0)[Symbol.iterator]();
  const changed: number[] = [];
  let number = 0;
  for (const sent of workload.payloads(0)) {
    number += 1;
    if (Buffer.compare(sent, stored.next().value ?? nothing) !== 0) changed.push(number);
  }
  expect(changed).toEqual([3, 5, 6, 9]);
});
