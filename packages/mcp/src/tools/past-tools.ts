import { z } from "zod";
import { type Encoded, encodeResult, type Json, type JsonObject } from "../answer/encode.ts";
import { pack, type Shrinkable } from "../answer/pack.ts";
import { diagnosticRow, failureBytesMax } from "../answer/run-answer.ts";
import { compareInvocations, type Side } from "../compare/compare.ts";
import { type Outcome, outcomes, rankFlaky, rankSlow } from "../compare/history.ts";
import { createFilter } from "../pages/match.ts";
import { refuse } from "../run/policy.ts";
import type { Details } from "../store/details.ts";
import { file } from "../store/layout.ts";
import { isTerminal } from "../store/record.ts";
import { defineTool, type Tool, type ToolContext } from "./context.ts";
import { findRecord } from "./find-record.ts";

function answer(fixed: JsonObject, at: { lists: readonly Shrinkable[]; context: ToolContext }): Encoded {
  const { encoding } = at.context;
  const packed = pack(fixed, { lists: at.lists, maxBytes: failureBytesMax - 32, encoding });
  const isCut = [...packed.dropped.values()].some((count) => count > 0);
  return encodeResult(isCut ? { ...packed.value, truncated: true } : packed.value, encoding);
}

function list(name: string, items: readonly Json[]): Shrinkable {
  return { name, items, minimum: 0 };
}

export function compareTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_compare",
    title: "Compare two invocations",
    description:
      "What changed between two finished invocations: new and fixed failures, new errors, slower tests, build metrics.",
    schema: z.strictObject({
      base: z.string().describe("Id of the earlier invocation"),
      other: z.string().describe("Id of the later invocation"),
    }),
    isReadOnly: true,
    call: async (args, { signal }) => {
      context.store.refresh();
      const base = await sideOf(context, { id: args.base, signal });
      const other = await sideOf(context, { id: args.other, signal });
      const found = compareInvocations(base, other);
      const headline =
        found.newFailures.length === 0 && found.fixed.length === 0
          ? `no outcome changed; ${found.stillFailing.length} still failing`
          : `${found.newFailures.length} new failures, ${found.fixed.length} fixed, ${found.stillFailing.length} still failing`;
      return answer(
        {
          headline,
          base: {
            id: args.base,
            state: base.invocation.state,
            headline: base.invocation.summary?.headline ?? "",
          },
          other: {
            id: args.other,
            state: other.invocation.state,
            headline: other.invocation.summary?.headline ?? "",
          },
        },
        {
          context,
          lists: [
            list(
              "metrics",
              found.metrics.map((one) => ({ ...one })),
            ),
            list("only_in_base", found.onlyInBase),
            list("only_in_other", found.onlyInOther),
            list(
              "slower_tests",
              found.slower.map((one) => ({ ...one })),
            ),
            list("still_failing", found.stillFailing),
            list(
              "gone_errors",
              found.goneDiagnostics.map((one) => diagnosticRow(one, false)),
            ),
            list("fixed", found.fixed),
            list(
              "new_errors",
              found.newDiagnostics.map((one) => diagnosticRow(one, false)),
            ),
            list("new_failures", found.newFailures),
          ],
        },
      );
    },
  });
}

async function sideOf(context: ToolContext, of: { id: string; signal: AbortSignal }): Promise<Side> {
  const { id } = of;
  const { invocation, store } = await findRecord(context, of);
  if (!isTerminal(invocation.state)) {
    throw refuse(
      "compare",
      `invocation ${id} is still ${invocation.state}; wait for it with bazel_inspect and wait_ms`,
    );
  }
  return { invocation, details: store.readSidecar<Details>(invocation.request.id, file.details) ?? {} };
}

export function historyTool(context: ToolContext): Tool {
  return defineTool({
    name: "bazel_history",
    title: "What earlier invocations say",
    description:
      "Outcomes of a test or target over earlier invocations, its last green run, flaky tests, or the slowest tests.",
    schema: z.strictObject({
      kind: z.enum(["outcomes", "last_green", "flaky", "slowest"]),
      label: z.string().optional().describe("Label or glob; required for outcomes and last_green"),
      workspace: z.string().optional(),
      limit: z.number().int().min(1).max(100).optional().describe("Default 20"),
    }),
    isReadOnly: true,
    call: async (args) => {
      context.store.refresh();
      const matches = matcherOf(args.label, args.kind);
      const all = outcomes(context.store, { matches, workspace: args.workspace });
      const limit = args.limit ?? 20;
      const fixed = { kind: args.kind, ...(args.label === undefined ? {} : { label: args.label }) };
      if (args.kind === "flaky") {
        const ranked = rankFlaky(all)
          .slice(0, limit)
          .map((one) => ({ ...one }));
        return answer(fixed, { context, lists: [list("tests", ranked)] });
      }
      if (args.kind === "slowest") {
        const ranked = rankSlow(all).slice(0, limit);
        return answer(fixed, { context, lists: [list("tests", ranked)] });
      }
      if (args.kind === "last_green") return answer({ ...fixed, ...lastGreen(all) }, { context, lists: [] });
      const rows: Json[] = [];
      for (const outcome of all) {
        rows.push({ ...outcome });
        if (rows.length === limit) break;
      }
      return answer(fixed, { context, lists: [list("outcomes", rows)] });
    },
  });
}

function matcherOf(label: string | undefined, kind: string): (label: string) => boolean {
  if (label !== undefined) {
    const filter = createFilter(label, { caseSensitive: true });
    const isExact = label.startsWith("//") && !label.includes("*") && !label.endsWith("...");
    return isExact ? (one) => one === label : (one) => filter.matches(one);
  }
  if (kind === "outcomes" || kind === "last_green") throw refuse("history", `kind ${kind} needs label`);
  return () => true;
}

/** The newest good outcome, and the failures since. */
function lastGreen(all: Iterable<Outcome>): JsonObject {
  let failures = 0;
  let firstFailure: Outcome | undefined;
  for (const outcome of all) {
    if (["passed", "flaky", "built"].includes(outcome.status)) {
      return {
        last_green: { ...outcome },
        failures_since: failures,
        ...(firstFailure === undefined ? {} : { first_failure_after: { ...firstFailure } }),
      };
    }
    failures += 1;
    firstFailure = outcome;
  }
  return { last_green: null, failures_since: failures };
}
