import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import type { Invocation } from "@millrace/mcp/store/record";
import { Store } from "@millrace/mcp/store/store";

/** What can be set on the command line. */
export interface Parameters {
  readonly queryRows: number;
  readonly invocations: number;
  readonly lookupSamples: number;
  readonly concurrencyOperations: number;
  readonly extendedStartup: boolean;
}

/** Measurements by name; milliseconds unless the name says otherwise. */
export type Measured = Record<string, number>;

const roots: string[] = [];

export function freshRoot(): string {
  const root = mkdtempSync(path.join(tmpdir(), "millrace-bench-mcp-"));
  roots.push(root);
  return path.join(root, "cache");
}

export function removeRoots(): void {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
}

export function openStore(root: string, useSnapshot = true): Store {
  return new Store({ root, clock: systemClock, random: systemRandom, log: silentLog, useSnapshot });
}

export function queuedInvocation(store: Store, command = "build"): Invocation {
  return {
    request: {
      id: store.newId(),
      workspace: "/workspace/benchmark",
      command,
      arguments: ["//benchmark/..."],
      timeout_ms: 1_800_000,
      requested_at_ms: systemClock.now(),
    },
    owner: store.publisher.id,
    state: "queued",
    payload_bytes: 0,
  };
}

export function terminal(invocation: Invocation, more: Partial<Invocation> = {}): Invocation {
  return {
    ...invocation,
    state: "succeeded",
    started_at_ms: invocation.request.requested_at_ms,
    finished_at_ms: systemClock.now(),
    termination: { kind: "exit", code: 0 },
    summary: {
      headline: "1 target built",
      targets: { requested: 1, succeeded: 1, failed: 0 },
      tests: { passed: 0, failed: 0, flaky: 0, skipped: 0, incomplete: 0 },
      elapsed_ms: 12,
    },
    metrics: { queue_ms: 1, bazel_wall_ms: 10, reduction_ms: 1 },
    ...more,
  };
}

/** Writes `count` finished records. */
export async function populate(
  store: Store,
  count: number,
  before: (id: string) => void = () => {},
): Promise<string[]> {
  const ids: string[] = [];
  const batch = 64;
  for (let at = 0; at < count; at += batch) {
    const made = Array.from({ length: Math.min(batch, count - at) }, () => queuedInvocation(store));
    await Promise.all(made.map((one) => store.create(one)));
    for (const one of made) before(one.request.id);
    await Promise.all(made.map((one) => store.commit({ ...one, state: "starting" })));
    await Promise.all(made.map((one) => store.commit({ ...one, state: "running" })));
    await Promise.all(made.map((one) => store.commit(terminal({ ...one, state: "running" }))));
    ids.push(...made.map((one) => one.request.id));
  }
  return ids;
}

export async function timed<T>(action: () => T | Promise<T>): Promise<{ ms: number; value: T }> {
  const since = systemClock.monotonic();
  const value = await action();
  return { ms: systemClock.monotonic() - since, value };
}

/** The element at floor((n − 1)·p/100), as the published harness takes it. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(((sorted.length - 1) * p) / 100)] ?? 0;
}

/** Fails the benchmark: a fast wrong answer is no result. */
export function check(claim: boolean, sentence: string): void {
  if (!claim) throw new Error(`benchmark: ${sentence}`);
}

export function directoryBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const full = path.join(directory, entry.name);
    bytes += entry.isDirectory() ? directoryBytes(full) : statSync(full).size;
  }
  return bytes;
}
