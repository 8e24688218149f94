import { FieldScanner } from "../wire/field-scanner.ts";
import { numberOfId, readFrames } from "./named-set-block.ts";

/** A block that may hold a set, as its row tells. Without a range it may hold any. */
export interface BlockPlace {
  readonly firstSeq: number;
  readonly part: number;
  readonly firstId: number | null;
  readonly lastId: number | null;
}

/** Where blocks are read from. */
export interface NamedSetSource {
  /** All blocks of the attempt in order of `firstSeq` and `part`; asked for once. */
  places(): Promise<readonly BlockPlace[]>;
  /** Their frames, decompressed, in the order asked for. */
  blocks(places: readonly BlockPlace[]): Promise<readonly Uint8Array[]>;
}

/** A file of a named set, as a view of its build_event_stream.File. */
export type FileBytes = Uint8Array;

interface NamedSet {
  readonly files: readonly FileBytes[];
  readonly sets: readonly string[];
}

// build_event_stream.NamedSetOfFiles
const filesField = 1;
const fileSetsField = 2;

/** Blocks whose sets are held at a time: some 64 KB each before they are decoded. */
const blocksHeldMax = 64;

/**
 * Expands named sets of one attempt on demand, and finds the outputs of its targets. Each set is visited once however many others refer to it, and read when
 * it is reached; of what was read only the newest blocks are held. So a graph of a million files costs the ids of its
 * sets, and whoever wants the first hundred files reads a block or two.
 */
export class NamedSetGraph {
  private readonly source: NamedSetSource;
  private places: readonly BlockPlace[] | undefined;
  /** Sets by block, the block used last at the end. */
  private readonly held = new Map<BlockPlace, ReadonlyMap<string, readonly Piece[]>>();

  constructor(source: NamedSetSource) {
    this.source = source;
  }

  /**
   * The files of the sets and of all that they refer to, each set once: its own files, then those of its sets, in
   * their order. A set that is not stored has no files.
   */
  async *files(ids: readonly string[]): AsyncGenerator<FileBytes> {
    const visited = new Set(ids);
    const stack = [...ids].reverse();
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const { files, sets } = await this.read(id);
      yield* files;
      for (const set of [...sets].reverse()) {
        if (visited.has(set)) continue;
        visited.add(set);
        stack.push(set);
      }
    }
  }

  /** What was kept of the outputs of the target whose event has this sequence number; undefined when nothing was. */
  async outputs(sequence: number): Promise<Uint8Array | undefined> {
    const pieces = await this.pieces(String(sequence), outputsMark);
    return pieces.length === 0 ? undefined : Buffer.concat(pieces);
  }

  private async read(id: string): Promise<NamedSet> {
    return decode(await this.pieces(id, ""));
  }

  private async pieces(id: string, mark: string): Promise<Uint8Array[]> {
    const pieces: Uint8Array[] = [];
    for (const place of await this.placesOf(id)) {
      for (const piece of (await this.setsIn(place)).get(mark + id) ?? []) {
        if (!piece.continues) pieces.length = 0;
        pieces.push(piece.payload);
      }
    }
    return pieces;
  }

  private async placesOf(id: string): Promise<readonly BlockPlace[]> {
    this.places ??= await this.source.places();
    const number = numberOfId(id);
    return this.places.filter(({ firstId, lastId }) => {
      if (firstId === null || lastId === null) return true;
      return number !== undefined && firstId <= number && number <= lastId;
    });
  }

  private async setsIn(place: BlockPlace): Promise<ReadonlyMap<string, readonly Piece[]>> {
    const held = this.held.get(place);
    const sets = held ?? piecesById((await this.source.blocks([place]))[0] ?? new Uint8Array(0));
    this.held.delete(place);
    this.held.set(place, sets);
    const [oldest] = this.held.keys();
    if (this.held.size > blocksHeldMax && oldest !== undefined) this.held.delete(oldest);
    return sets;
  }
}

interface Piece {
  readonly continues: boolean;
  readonly payload: Uint8Array;
}

/** Before the numbers of outputs, so that they are not taken for ids of sets. */
const outputsMark = "outputs ";

function piecesById(block: Uint8Array): ReadonlyMap<string, readonly Piece[]> {
  const sets = new Map<string, Piece[]>();
  for (const { id, outputs, ...piece } of readFrames(block)) {
    const key = outputs ? outputsMark + id : id;
    const pieces = sets.get(key);
    if (pieces === undefined) sets.set(key, [piece]);
    else pieces.push(piece);
  }
  return sets;
}

function decode(pieces: readonly Uint8Array[]): NamedSet {
  const files: FileBytes[] = [];
  const sets: string[] = [];
  for (const bytes of pieces) {
    const scanner = new FieldScanner().reset(bytes, 0, bytes.length);
    while (scanner.next()) {
      if (scanner.isBytes(filesField)) files.push(bytes.subarray(scanner.from, scanner.to));
      else if (scanner.isBytes(fileSetsField)) {
        const inner = scanner.child();
        while (inner.next()) if (inner.isBytes(1)) sets.push(inner.text);
      }
    }
  }
  return { files, sets };
}
