import { readFileSync } from "node:fs";
import { type ConvertedEvent, convertJsonEvent } from "@millrace/proto/bep/ndjson";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { expect, test } from "vitest";
import {
  listPublicFiles,
  listRuns,
  publicDataSkipReason,
  readBinaryEventFile,
  readJsonEventFile,
} from "./corpus.ts";

function convertAll(lines: readonly string[]): ConvertedEvent[] {
  return lines.map((line) => {
    const converted = convertJsonEvent(line);
    if (converted.kind === "broken") throw new Error(`${converted.reason}: ${line.slice(0, 100)}`);
    return converted;
  });
}

function canonicalText(payload: Uint8Array): string {
  return JSON.stringify(build_event_stream.BuildEvent.decode(payload));
}

const runs = listRuns().filter((run) => readJsonEventFile(run) !== undefined);

test.each(runs.map((run) => [run.name, run] as const))(
  "%s: every line of its JSON file is an event",
  (_, run) => {
    const events = convertAll(readJsonEventFile(run) ?? []);
    expect(events.flatMap((event) => event.unknown)).toEqual([]);
    const binary = readBinaryEventFile(run);
    if (binary === undefined) return;
    // Bazel writes its two files from two threads: neighbours may be swapped.
    const sorted = (payloads: Uint8Array[]) => payloads.map(canonicalText).sort();
    expect(sorted(events.map((event) => event.bytes))).toEqual(sorted(binary));
  },
);

const publicFiles = listPublicFiles(".ndjson");

test.skipIf(publicFiles.length === 0)(
  `every line of newer Bazels' JSON files is an event${publicFiles.length === 0 ? ` (${publicDataSkipReason()})` : ""}`,
  () => {
    for (const file of publicFiles) {
      const lines = readFileSync(file.path, "utf8").split("\n");
      convertAll(lines.filter((line) => line.trim() !== ""));
    }
  },
);
