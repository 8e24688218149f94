import { expect, test } from "vitest";
import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";
import { LargeEventGate } from "./large-event-gate.ts";

const MiB = 1024 * 1024;

/** A gate whose runs end when the test says so. */
function gate() {
  const started: number[] = [];
  const ends = new Map<number, () => void>();
  const subject = new LargeEventGate((large) => {
    started.push(large.sequence);
    return new Promise<ProjectedLarge>((resolve) => {
      ends.set(large.sequence, () => resolve({} as ProjectedLarge));
    });
  });
  const project = (sequence: number, bytes: number) =>
    subject.project({ sequence, bytes: { length: bytes } } as unknown as LargeProjection);
  return { project, started, end: (sequence: number) => ends.get(sequence)?.() };
}

test("two are worked on at once, the others wait in order", async () => {
  const { project, started, end } = gate();
  const all = [1, 2, 3, 4].map((sequence) => project(sequence, 2 * MiB));
  await expect.poll(() => started).toEqual([1, 2]);
  end(2);
  await expect.poll(() => started).toEqual([1, 2, 3]);
  end(1);
  end(3);
  await expect.poll(() => started).toEqual([1, 2, 3, 4]);
  end(4);
  await Promise.all(all);
});

test("one that is larger than the bound is worked on alone", async () => {
  const { project, started, end } = gate();
  const all = [project(1, 97 * MiB), project(2, 97 * MiB), project(3, 2 * MiB)];
  await expect.poll(() => started).toEqual([1]);
  end(1);
  await expect.poll(() => started).toEqual([1, 2]);
  end(2);
  await expect.poll(() => started).toEqual([1, 2, 3]);
  end(3);
  await Promise.all(all);
});
