import { readKind } from "@millrace/proto/bep/kind";
import { locateNamedSet } from "@millrace/proto/bep/named-set-block";
import { NamedSetGraph } from "@millrace/proto/bep/named-set-graph";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockBytesMax, NamedSetPacker } from "./named-set-packer.ts";

interface SetSketch {
  readonly id: string;
  readonly files: readonly string[];
  readonly sets: readonly string[];
}

function add(packer: NamedSetPacker, { id, files, sets }: SetSketch): void {
  const payload = build_event_stream.BuildEvent.encode({
    id: { namedSet: { id } },
    namedSetOfFiles: { files: files.map((name) => ({ name })), fileSets: sets.map((set) => ({ id: set })) },
  }).finish();
  const event = readKind({ bytes: payload, from: 0, to: payload.length });
  if (isMalformed(event)) throw new Error(event.reason);
  const place = locateNamedSet(event);
  if (isMalformed(place)) throw new Error(place.reason);
  packer.add(place, { from: event.payloadStart, to: event.payloadEnd });
}

/** A graph over the blocks of the packer's batches; `read` counts the blocks that were fetched. */
function graphOf(batches: readonly ReturnType<NamedSetPacker["take"]>[]): {
  graph: NamedSetGraph;
  read: () => number;
} {
  let read = 0;
  const blocks = batches.flatMap((batch, firstSeq) =>
    batch.map((block, part) => ({ firstSeq, part, block })),
  );
  const graph = new NamedSetGraph({
    places: async () =>
      blocks.map(({ firstSeq, part, block }) => ({
        ...{ firstSeq, part },
        firstId: block.firstId ?? null,
        lastId: block.lastId ?? null,
      })),
    blocks: async (places) => {
      read += places.length;
      return places.map(({ firstSeq, part }) => {
        const found = blocks.find((one) => one.firstSeq === firstSeq && one.part === part);
        return found?.block.data ?? new Uint8Array(0);
      });
    },
  });
  return { graph, read: () => read };
}

async function filesOf(graph: NamedSetGraph, ids: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for await (const bytes of graph.files(ids)) names.push(build_event_stream.File.decode(bytes).name ?? "");
  return names;
}

/** Each set once, its own files first. */
function expected(sets: ReadonlyMap<string, SetSketch>, ids: readonly string[]): string[] {
  const seen = new Set(ids);
  const walk = (id: string): string[] => {
    const set = sets.get(id);
    if (set === undefined) return [];
    const inner = set.sets.filter((one) => !seen.has(one) && seen.add(one));
    return [...set.files, ...inner.flatMap(walk)];
  };
  return ids.flatMap(walk);
}

const sketch = fc.record({
  files: fc.array(fc.string({ maxLength: 12 }), { maxLength: 4 }),
  sets: fc.array(fc.nat({ max: 15 }), { maxLength: 4 }),
  batch: fc.nat({ max: 3 }),
});

describe("named sets in blocks", () => {
  it("expand to what was announced, whatever the batches, each set once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(sketch, { maxLength: 16 }),
        fc.constantFrom("", "x"),
        async (sketches, prefix) => {
          const sets = sketches.map(({ files, sets: inner }, index): SetSketch => {
            // A set refers to earlier ones only; some ids are no numbers.
            const earlier = [...new Set(inner)].filter((one) => one < index).map((one) => prefix + one);
            return { id: prefix + index, files, sets: earlier };
          });
          const packers = [0, 1, 2, 3].map(() => new NamedSetPacker());
          sets.forEach((set, index) => {
            const packer = packers[sketches[index]?.batch ?? 0];
            if (packer !== undefined) add(packer, set);
          });
          const { graph } = graphOf(packers.map((packer) => packer.take()));
          const byId = new Map(sets.map((set) => [set.id, set]));
          for (const { id } of sets) expect(await filesOf(graph, [id])).toEqual(expected(byId, [id]));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("a set too large for a block is cut, and comes back whole", async () => {
    const packer = new NamedSetPacker();
    const files = Array.from({ length: 5_000 }, (_, index) => `a/file/with/a/long/name/${index}.o`);
    add(packer, { id: "7", files, sets: ["8"] });
    add(packer, { id: "8", files: ["last"], sets: [] });
    const blocks = packer.take();
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(block.data?.length).toBeLessThanOrEqual(blockBytesMax);
    expect(await filesOf(graphOf([blocks]).graph, ["7"])).toEqual([...files, "last"]);
  });

  it("what is said again of an id stands, and outputs are not taken for sets", async () => {
    const packer = new NamedSetPacker();
    add(packer, { id: "1", files: ["old"], sets: [] });
    packer.addOutputs(1, Buffer.from("outputs of event 1"));
    add(packer, { id: "1", files: ["new"], sets: ["404"] });
    const { graph } = graphOf([packer.take()]);
    expect(await filesOf(graph, ["1"])).toEqual(["new"]);
    expect(Buffer.from((await graph.outputs(1)) ?? []).toString()).toBe("outputs of event 1");
    expect(await graph.outputs(2)).toBeUndefined();
  });

  it("of a chain of 100,000 sets the first files cost a block or two", async () => {
    const packer = new NamedSetPacker();
    const depth = 100_000;
    for (let id = 0; id < depth; id += 1) {
      add(packer, { id: String(id), files: [`${id}`], sets: id === 0 ? [] : [String(id - 1)] });
    }
    const { graph, read } = graphOf([packer.take()]);
    const first: Uint8Array[] = [];
    for await (const bytes of graph.files([String(depth - 1)])) {
      first.push(bytes);
      if (first.length === 100) break;
    }
    expect(first).toHaveLength(100);
    expect(read()).toBeLessThanOrEqual(2);
    let all = 0;
    for await (const _ of graph.files([String(depth - 1)])) all += 1;
    expect(all).toBe(depth);
  });
});
