import fc from "fast-check";
import { expect, test } from "vitest";
import type { Diagnostic, Invocation } from "../store/record.ts";
import type { ResultEncoding } from "./encode.ts";
import { failureBytesMax, finishedAnswer, successBytesMax } from "./run-answer.ts";

const encodings: ResultEncoding[] = ["toon", "text", "structured", "both"];

function finished(state: "succeeded" | "failed", diagnostics: Diagnostic[], excerpt: string[]): Invocation {
  return {
    request: {
      ...{ id: "01a22f3e-068d-75ba-a603-23f986a7cdb3", workspace: "/ws", command: "run" },
      ...{ timeout_ms: 1, requested_at_ms: 1 },
    },
    owner: "o",
    state,
    payload_bytes: 0,
    termination: { kind: "exit", code: state === "failed" ? 1 : 0 },
    summary: {
      headline: diagnostics[0]?.message.slice(0, 300) ?? "fine",
      targets: { requested: 1, succeeded: 0, failed: 1 },
      tests: { passed: 0, failed: 1, flaky: 0, skipped: 0, incomplete: 0 },
      diagnostics,
      query_sample: [{ ordinal: 0, value: "//a".repeat(300) }],
      elapsed_ms: 1,
      inspect_hint: "test_log",
    },
    run: { target: "//a", outcome: "program_failed", output_excerpt: excerpt },
  };
}

const message = fc.string({
  minLength: 1,
  maxLength: 3000,
  unit: fc.constantFrom("a", "é", '"', "\n", ",", "🙂", ":"),
});

test("an answer of any content stays within its budget and keeps the first diagnostic", () => {
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 40 }),
      fc.array(message, { maxLength: 20 }),
      fc.constantFrom(...encodings),
      fc.constantFrom("succeeded" as const, "failed" as const),
      (messages, excerpt, encoding, state) => {
        const diagnostics = messages.map(
          (text, index): Diagnostic => ({
            ...{ severity: "error", category: "test", message: text, target: `//t:${index}` },
            ...(index % 2 === 0 ? { location: { path: "a.cc", line: index } } : {}),
          }),
        );
        const answer = finishedAnswer(finished(state, diagnostics, excerpt), {
          encoding,
          views: ["log"],
          output: "",
        });
        expect(answer.bytes).toBeLessThanOrEqual(state === "failed" ? failureBytesMax : successBytesMax);
        const shown = answer.structuredContent ?? {};
        if (state === "failed" && encoding !== "structured" && encoding !== "both") {
          expect(answer.content[0]?.text).toContain("//t:0");
        } else if (state === "failed") expect(JSON.stringify(shown)).toContain("//t:0");
      },
    ),
    { numRuns: 60 },
  );
});
