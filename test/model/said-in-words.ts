import { zstdDecompressSync } from "node:zlib";
import { readFrames } from "@millrace/proto/bep/named-set-block";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { onlyRow, outputsOf, type SaidTable } from "./reduce-said.ts";

type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];

/** Rows of the tables beyond targets and tests, as the database has them. */
export type StoredSaid = Readonly<Record<SaidTable, Rows>>;

const ms = (column: string, as: string): string =>
  `round(extract(epoch from ${column}) * 1000)::float8 as "${as}"`;

/** What is read of each table, but for the attempt. */
export const saidTexts: Readonly<Record<SaidTable, string>> = {
  actions: `select *, ${ms("started_at", "startedAtMs")}, ${ms("ended_at", "endedAtMs")} from actions`,
  actionCounts: "select * from action_counts",
  configurations: "select * from configurations",
  problems: "select * from problems",
  fetches: "select * from fetches",
  metrics: "select * from invocation_metrics",
  details: "select * from invocation_details",
  namedSets: "select * from named_sets",
  outputs: "select * from named_sets",
};

/** Columns of which nothing but their own bytes says what they mean, and keys. */
const leftOut = new Set(["attempt_id", "groups", "tool_logs", "exec_request", "convenience_symlinks"]);

/** The stored rows in the words of the independent reducer, by its keys. */
export function saidInWords(stored: StoredSaid): Record<SaidTable, ReadonlyMap<string, object>> {
  const byColumn = (table: Exclude<SaidTable, "namedSets" | "outputs">, column: string | undefined) =>
    new Map(stored[table].map((row) => [column === undefined ? onlyRow : String(row[column]), inWords(row)]));
  return {
    actions: byColumn("actions", "sequence"),
    actionCounts: byColumn("actionCounts", "mnemonic"),
    configurations: byColumn("configurations", "id"),
    problems: byColumn("problems", "sequence"),
    fetches: byColumn("fetches", "sequence"),
    metrics: byColumn("metrics", undefined),
    details: byColumn("details", undefined),
    namedSets: framesIn(stored.namedSets, { outputs: false, decode: namedSet }),
    outputs: framesIn(stored.outputs, { outputs: true, decode: targetOutputs }),
  };
}

function inWords(row: Row): object {
  const said = Object.entries(row).filter(([name, value]) => !leftOut.has(name) && value !== null);
  return Object.fromEntries(said.map(([name, value]) => [camel(name), plain(value)]));
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A driver may give counts as text. */
function plain(value: unknown): unknown {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** Unpacks the frames of one kind and decodes each payload by the static decoder. */
function framesIn(
  blocks: Rows,
  of: { outputs: boolean; decode: (payload: Uint8Array) => object },
): ReadonlyMap<string, object> {
  const inOrder = blocks.toSorted(
    (a, b) => Number(a["first_seq"]) - Number(b["first_seq"]) || Number(a["part"]) - Number(b["part"]),
  );
  const payloads = new Map<string, Uint8Array[]>();
  for (const block of inOrder) {
    for (const frame of readFrames(zstdDecompressSync(block["data"] as Uint8Array))) {
      const { id, continues, payload } = frame;
      if (frame.outputs !== of.outputs) continue;
      payloads.set(id, [...(continues ? (payloads.get(id) ?? []) : []), payload]);
    }
  }
  return new Map([...payloads].map(([id, parts]) => [id, of.decode(Buffer.concat(parts))]));
}

function targetOutputs(payload: Uint8Array): object {
  return outputsOf(build_event_stream.TargetComplete.decode(payload));
}

function namedSet(payload: Uint8Array): object {
  const { files, fileSets } = build_event_stream.NamedSetOfFiles.decode(payload);
  return {
    files: (files ?? []).map(({ name, uri }) => ({ name: name ?? "", uri: uri ?? "" })),
    sets: (fileSets ?? []).map(({ id }) => id ?? ""),
  };
}
