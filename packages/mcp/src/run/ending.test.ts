import { expect, test } from "vitest";
import type { ChildEnd } from "./child.ts";
import { runEnding, type StopReason } from "./ending.ts";

const limits = { timeoutMs: 2000, outputBytesMax: 10 };
const killed: ChildEnd = { kind: "signal", signal: "SIGKILL" };

test.each<[string, ChildEnd, StopReason | undefined, object]>([
  ["exit 0", { kind: "exit", code: 0 }, undefined, { state: "succeeded", reason: "" }],
  ["exit 3", { kind: "exit", code: 3 }, undefined, { state: "failed", reason: "" }],
  ["a signal", killed, undefined, { state: "failed", reason: "Bazel was ended by SIGKILL" }],
  ["a cancel", killed, { kind: "cancelled", text: "why" }, { state: "cancelled", reason: "why" }],
  [
    "a cancel that Bazel obeys",
    { kind: "exit", code: 8 },
    { kind: "cancelled", text: "" },
    { state: "cancelled" },
  ],
  [
    "a cancel that came too late",
    { kind: "exit", code: 0 },
    { kind: "cancelled", text: "" },
    { state: "succeeded" },
  ],
  ["a timeout", killed, { kind: "timed_out" }, { state: "timed_out", reason: "after 2 s" }],
  [
    "too much output",
    killed,
    { kind: "output_limit" },
    { state: "failed", termination: { kind: "output_limit", maximum_bytes: 10 } },
  ],
])("%s", (_name, end, stop, expected) => {
  expect(runEnding(end, { stop, ...limits })).toMatchObject(expected);
});
