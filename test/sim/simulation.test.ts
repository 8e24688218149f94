import { processEnvironment } from "@millrace/base/config";
import { expect, test } from "vitest";
import { FaultCounter, faultKinds } from "./faults.ts";
import { simulate } from "./world.ts";

/** More seeds: `MILLRACE_SEEDS=100000`; from another start: `MILLRACE_SEEDS=5000:1000` (first : count). */
const [firstSeed, count] = readRange(processEnvironment()["MILLRACE_SEEDS"] ?? "1:500");
const faultsMin = 200;

function readRange(text: string): [number, number] {
  const [a, b] = text.split(":").map(Number);
  return b === undefined ? [1, a ?? 0] : [a ?? 1, b];
}

test("whatever fails, every acked event is committed once, in order, and all streams come to their end", async () => {
  const sum = new FaultCounter();
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { problems, faults } = await simulate(seed);
    expect(problems, `seed ${seed}`).toEqual([]);
    for (const kind of faultKinds) sum.counts[kind] += faults.counts[kind];
  }
  const least = Math.min(faultsMin, (faultsMin * count) / 500);
  for (const kind of faultKinds) expect(sum.counts[kind], kind).toBeGreaterThanOrEqual(least);
});
