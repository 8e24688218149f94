import { z } from "@hono/zod-openapi";
import type { DetailRows } from "../queries/said.ts";
import { keptJson } from "../read/bep-json.ts";

const texts = z.array(z.string());
const textsByName = z.record(z.string(), z.string());
const bepObject = z.unknown().openapi({ type: "object", description: "As JSON; null when Bazel sent none" });

/** How Bazel was called and where it ran, and what it said that belongs to no target. */
export const detailsSchema = z
  .object({
    startupOptions: texts,
    explicitStartupOptions: texts,
    options: texts.openapi({ description: "The effective options of the command, from all sources" }),
    explicitOptions: texts.openapi({ description: "Those of the command line alone" }),
    toolTag: z.string().nullable(),
    workspaceStatus: textsByName,
    buildMetadata: textsByName,
    localExecRoot: z.string().nullable(),
    serverPid: z.number().int().nullable(),
    patternTargets: z.number().int().nullable().openapi({
      description: "How many targets the patterns of the command stand for",
    }),
    testSuites: z.record(z.string(), texts),
    wasSuspended: z.boolean().openapi({ description: "The machine slept meanwhile: times say little" }),
    convenienceSymlinks: bepObject,
    execRequest: bepObject,
    toolLogs: bepObject,
    configurations: z.array(
      z.object({
        id: z.string(),
        mnemonic: z.string().nullable(),
        platform: z.string().nullable(),
        cpu: z.string().nullable(),
        isTool: z.boolean(),
        makeVariables: textsByName,
      }),
    ),
    problems: z.array(
      z.object({
        sequence: z.number().int(),
        kind: z.string(),
        subject: z.string().nullable().openapi({ description: "A label, or patterns" }),
        configuration: z.string().nullable(),
        reason: z.string(),
        description: z.string().nullable(),
      }),
    ),
    fetches: z.array(z.object({ sequence: z.number().int(), url: z.string(), success: z.boolean() })),
    unknown: z.array(z.object({ what: z.string(), events: z.number().int() })).openapi({
      description: "What this server's version does not know; the raw events have it",
    }),
  })
  .openapi("Details");

export function presentDetails(rows: DetailRows): z.infer<typeof detailsSchema> {
  const { details } = rows;
  return {
    startupOptions: details?.startupOptions ?? [],
    explicitStartupOptions: details?.explicitStartupOptions ?? [],
    options: details?.options ?? [],
    explicitOptions: details?.explicitOptions ?? [],
    toolTag: details?.toolTag ?? null,
    workspaceStatus: details?.workspaceStatus ?? {},
    buildMetadata: details?.buildMetadata ?? {},
    localExecRoot: details?.localExecRoot ?? null,
    serverPid: details?.serverPid ?? null,
    patternTargets: details?.patternTargets ?? null,
    testSuites: mutable(details?.testSuites ?? {}),
    wasSuspended: details?.wasSuspended ?? false,
    convenienceSymlinks: keptJson("ConvenienceSymlinksIdentified", details?.convenienceSymlinks ?? null),
    execRequest: keptJson("ExecRequestConstructed", details?.execRequest ?? null),
    toolLogs: keptJson("BuildToolLogs", details?.toolLogs ?? null),
    configurations: rows.configurations.map(({ attemptId: _, makeVariables, ...same }) => ({
      ...same,
      makeVariables: makeVariables ?? {},
    })),
    problems: rows.problems.map(({ attemptId: _, ...problem }) => problem),
    fetches: rows.fetches.map(({ sequence, url, success }) => ({ sequence, url, success })),
    unknown: rows.unknowns.map(({ what, events }) => ({ what, events })),
  };
}

function mutable(suites: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(suites).map(([label, tests]) => [label, [...tests]]));
}
