import type { BepEvent } from "./decode.ts";
import { abortReasonName, milliseconds, textOrNothing } from "./schema-values.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Tables of what Bazel says beyond targets and tests: rows by their key, in the words of the schema. */
export const saidTables = [
  "actions",
  "actionCounts",
  "configurations",
  "problems",
  "fetches",
  "metrics",
  "details",
  "namedSets",
  "outputs",
] as const;

export type SaidTable = (typeof saidTables)[number];
export type ExpectedSaid = Readonly<Record<SaidTable, ReadonlyMap<string, Fields>>>;

/** The only row of an attempt. */
export const onlyRow = "-";

/** Payloads whose id is that of a target, whose fate is a row of `targets`. */
const targetIds = ["targetCompleted", "targetConfigured"] as const;

/** What the events of an attempt say beyond targets and tests. */
export class SaidReducer {
  private readonly rows = {
    actions: new Map<string, Fields>(),
    actionCounts: new Map<string, Fields>(),
    configurations: new Map<string, Fields>(),
    problems: new Map<string, Fields>(),
    fetches: new Map<string, Fields>(),
    metrics: new Map<string, Fields>(),
    details: new Map<string, Fields>(),
    namedSets: new Map<string, Fields>(),
    outputs: new Map<string, Fields>(),
  };

  add(event: BepEvent, sequence: number): void {
    const at = String(sequence);
    const { id } = event;
    if (event.action) this.addAction(event, at);
    if (event.configuration) {
      this.rows.configurations.set(id?.configuration?.id ?? "", configurationOf(event.configuration));
    }
    if (event.fetch) {
      const { url = "", downloader = 0 } = id?.fetch ?? {};
      this.rows.fetches.set(at, { url, downloader, success: event.fetch.success ?? false });
    }
    if (event.namedSetOfFiles)
      this.rows.namedSets.set(id?.namedSet?.id ?? "", namedSetOf(event.namedSetOfFiles));
    if (event.completed && id?.targetCompleted) this.addOutputs(event.completed, at);
    if (event.aborted && !targetIds.some((name) => id?.[name])) this.addProblem(event, at);
    if (event.buildMetrics) this.patch("metrics", metricsOf(event.buildMetrics));
    this.patch("details", detailsOf(event));
  }

  said(): ExpectedSaid {
    return this.rows;
  }

  private patch(table: "metrics" | "details", news: Fields): void {
    const present = Object.entries(news).filter(([, value]) => value !== undefined);
    if (present.length === 0) return;
    this.rows[table].set(onlyRow, { ...this.rows[table].get(onlyRow), ...Object.fromEntries(present) });
  }

  private addAction({ id, action }: BepEvent, at: string): void {
    const mnemonic = action?.type ?? "";
    const startedAtMs = milliseconds(action?.startTime, 0);
    const endedAtMs = milliseconds(action?.endTime, 0);
    const lastedMs =
      startedAtMs === undefined || endedAtMs === undefined ? 0 : Math.max(0, endedAtMs - startedAtMs);
    const counts = this.rows.actionCounts.get(mnemonic) ?? { succeeded: 0, failed: 0, durationMs: 0 };
    const success = action?.success ?? false;
    this.rows.actionCounts.set(mnemonic, {
      succeeded: Number(counts["succeeded"]) + (success ? 1 : 0),
      failed: Number(counts["failed"]) + (success ? 0 : 1),
      durationMs: Number(counts["durationMs"]) + lastedMs,
    });
    if (success && mnemonic !== "CoverageReport" && mnemonic !== "BaselineCoverage") return;
    const { actionCompleted: ofId } = id ?? {};
    this.rows.actions.set(at, {
      ...{ success, mnemonic: textOrNothing(mnemonic), startedAtMs, endedAtMs },
      label: textOrNothing(action?.label || ofId?.label),
      configuration: textOrNothing(ofId?.configuration?.id),
      primaryOutput: textOrNothing(ofId?.primaryOutput),
      exitCode: action?.exitCode ?? 0,
      failureMessage: textOrNothing(action?.failureDetail?.message),
      stdoutUri: textOrNothing(action?.stdout?.uri),
      stderrUri: textOrNothing(action?.stderr?.uri),
      commandLine: action?.commandLine ?? [],
    });
  }

  private addOutputs(it: NonNullable<BepEvent["completed"]>, at: string): void {
    const outputs = outputsOf(it);
    if (Object.values(outputs).some((list) => list.length > 0)) this.rows.outputs.set(at, outputs);
  }

  private addProblem({ id, aborted }: BepEvent, at: string): void {
    const [kind, about] = Object.entries(id ?? {}).find(([, value]) => typeof value === "object") ?? [];
    const { label, pattern } = (about ?? {}) as { label?: string; pattern?: string[] };
    this.rows.problems.set(at, {
      kind,
      subject: textOrNothing(label ?? pattern?.join(" ")),
      reason: abortReasonName(aborted?.reason ?? 0),
      description: textOrNothing(aborted?.description),
    });
  }
}

function configurationOf(it: NonNullable<BepEvent["configuration"]>): Fields {
  const variables = it.makeVariable ?? {};
  return {
    mnemonic: textOrNothing(it.mnemonic),
    platform: textOrNothing(it.platformName),
    cpu: textOrNothing(it.cpu),
    isTool: it.isTool ?? false,
    makeVariables: Object.keys(variables).length === 0 ? undefined : variables,
  };
}

function namedSetOf(it: NonNullable<BepEvent["namedSetOfFiles"]>): Fields {
  return {
    files: (it.files ?? []).map(({ name, uri }) => ({ name: name ?? "", uri: uri ?? "" })),
    sets: (it.fileSets ?? []).map(({ id }) => id ?? ""),
  };
}

/** Of `important_output`, which says the same at greater length, only where there is no group. */
export function outputsOf(it: {
  readonly outputGroup?: NonNullable<BepEvent["completed"]>["outputGroup"];
  readonly importantOutput?: NonNullable<BepEvent["completed"]>["importantOutput"];
  readonly directoryOutput?: NonNullable<BepEvent["completed"]>["directoryOutput"];
}): Record<"groups" | "files" | "directories", unknown[]> {
  const groups = (it.outputGroup ?? []).map(({ name, fileSets, incomplete, inlineFiles }) => ({
    name: name ?? "",
    sets: (fileSets ?? []).map(({ id }) => id ?? ""),
    incomplete: incomplete ?? false,
    inlined: (inlineFiles ?? []).length,
  }));
  const names = (files: typeof it.importantOutput) => (files ?? []).map(({ name }) => name ?? "");
  return {
    groups,
    files: groups.length > 0 ? [] : names(it.importantOutput),
    directories: names(it.directoryOutput),
  };
}

function metricsOf(it: NonNullable<BepEvent["buildMetrics"]>): Fields {
  const { actionSummary, targetMetrics, packageMetrics, timingMetrics, memoryMetrics } = it;
  return {
    actionsCreated: actionSummary?.actionsCreated ?? 0,
    actionsExecuted: actionSummary?.actionsExecuted ?? 0,
    remoteCacheHits: actionSummary?.remoteCacheHits ?? 0,
    actionCacheHits: actionSummary?.actionCacheStatistics?.hits ?? 0,
    actionCacheMisses: actionSummary?.actionCacheStatistics?.misses ?? 0,
    targetsLoaded: targetMetrics?.targetsLoaded ?? 0,
    targetsConfigured: targetMetrics?.targetsConfigured ?? 0,
    packagesLoaded: packageMetrics?.packagesLoaded ?? 0,
    cpuTimeMs: timingMetrics?.cpuTimeInMs ?? 0,
    wallTimeMs: timingMetrics?.wallTimeInMs ?? 0,
    analysisPhaseMs: timingMetrics?.analysisPhaseTimeInMs ?? 0,
    executionPhaseMs: timingMetrics?.executionPhaseTimeInMs ?? 0,
    criticalPathMs: milliseconds(timingMetrics?.criticalPathTime, 0),
    usedHeapBytes: memoryMetrics?.usedHeapSizePostBuild || undefined,
    peakHeapBytes: memoryMetrics?.peakPostGcHeapSize || undefined,
    outputBytes: it.artifactMetrics?.outputArtifactsSeen?.sizeInBytes || undefined,
    outputCount: it.artifactMetrics?.outputArtifactsSeen?.count || undefined,
    bytesSent: it.networkMetrics?.systemNetworkStats?.bytesSent || undefined,
    bytesReceived: it.networkMetrics?.systemNetworkStats?.bytesRecv || undefined,
  };
}

function detailsOf(event: BepEvent): Fields {
  const { started, optionsParsed, workspaceStatus, buildMetadata, workspaceInfo, finished } = event;
  const list = (texts: readonly string[] | null | undefined) =>
    texts && texts.length > 0 ? texts : undefined;
  const status = (workspaceStatus?.item ?? []).map(({ key, value }) => [key ?? "", value ?? ""]);
  const metadata = buildMetadata?.metadata ?? {};
  return {
    serverPid: started?.serverPid || undefined,
    startupOptions: list(optionsParsed?.startupOptions),
    explicitStartupOptions: list(optionsParsed?.explicitStartupOptions),
    options: list(optionsParsed?.cmdLine),
    explicitOptions: list(optionsParsed?.explicitCmdLine),
    toolTag: textOrNothing(optionsParsed?.toolTag),
    workspaceStatus: status.length === 0 ? undefined : Object.fromEntries(status),
    buildMetadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    localExecRoot: textOrNothing(workspaceInfo?.localExecRoot),
    wasSuspended: finished?.anomalyReport?.wasSuspended || undefined,
  };
}
