import { shardCount } from "@millrace/proto/tokens";
import { expect, test } from "vitest";
import { LiveWriters, silentAfterBeats } from "./live-writers.ts";

/** Each writer's view once all have heard of each other. */
function viewsOf(names: readonly string[]): Map<string, LiveWriters> {
  const views = new Map(names.map((name) => [name, new LiveWriters(name)]));
  for (const view of views.values()) {
    for (const name of names) view.hear(name, { draining: false, beat: 0 });
  }
  return views;
}

test("a writer that knows of no other serves every shard", () => {
  expect(new LiveWriters("a").ownShards(0).size).toBe(shardCount);
});

test("writers that know each other serve each shard exactly once", () => {
  const shards = [...viewsOf(["a", "b", "c"]).values()].flatMap((view) => [...view.ownShards(0)]);
  expect(shards.sort((a, b) => a - b)).toEqual(Array.from({ length: shardCount }, (_, shard) => shard));
});

test("a silent writer's shards go to the others, and only those move", () => {
  const views = viewsOf(["a", "b", "c"]);
  const before = views.get("a")?.ownShards(0) ?? new Set();
  for (const name of ["a", "b"]) views.get(name)?.hear("b", { draining: false, beat: silentAfterBeats });
  const after = views.get("a")?.ownShards(silentAfterBeats) ?? new Set();
  expect(views.get("a")?.names(silentAfterBeats)).toEqual(["a", "b"]);
  for (const shard of before) expect(after.has(shard)).toBe(true);
  expect(after.size).toBeGreaterThan(before.size);
});

test("one that leaves is gone at once and, heard again, is back", () => {
  const view = new LiveWriters("a");
  view.hear("b", { draining: false, beat: 0 });
  view.hear("b", { draining: true, beat: 1 });
  expect(view.names(1)).toEqual(["a"]);
  view.hear("b", { draining: false, beat: 2 });
  expect(view.names(2)).toEqual(["a", "b"]);
});
