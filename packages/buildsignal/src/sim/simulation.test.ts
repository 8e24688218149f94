import { processEnvironment } from "@millrace/base/config";
import { expect, test } from "vitest";
import { simulate } from "./simulate.fixture.ts";

/** More seeds: `MILLRACE_SEEDS=1000`; one of them: `MILLRACE_SEEDS=37:1` (first : count). */
const [firstSeed, count] = readRange(processEnvironment()["MILLRACE_SEEDS"] ?? "1:60");

function readRange(text: string): [number, number] {
  const [a, b] = text.split(":").map(Number);
  return b === undefined ? [1, a ?? 0] : [a ?? 1, b];
}

/** 60 seeds take a second on a machine with nothing else to do. */
const timeoutMs = 300_000;

/** Each of these is to have happened in 60 seeds. */
const happenings = [
  ...["kills", "duplicates", "secondBuilds", "jumps", "announcements", "letters", "facts"],
  ...["succeeded", "failed", "cancelled", "superseded", "failed timed_out", "failed skipped"],
  ...["failed processing_failed", "failed build_polling_exhausted"],
];

test(
  "whatever fails, each commit comes to one outcome, each verdict to one fact, and no slot is left",
  async () => {
    const sum: Record<string, number> = {};
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const { problems, counts } = await simulate(seed);
      expect(problems, `seed ${seed}`).toEqual([]);
      for (const [name, times] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + times;
    }
    if (count < 60) return;
    for (const name of happenings) expect(sum[name] ?? 0, name).toBeGreaterThan(0);
  },
  timeoutMs,
);
