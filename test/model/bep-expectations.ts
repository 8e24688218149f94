import type { build_event_stream, google } from "@millrace/proto/gen/bep";
import { expect } from "vitest";

type Event = build_event_stream.BuildEvent.$Properties;
type Id = build_event_stream.BuildEventId.$Properties;
type Time = google.protobuf.Timestamp.$Properties | null | undefined;
type File = build_event_stream.File.$Properties;

/** What the hand-written readers must say of an event that the static decoder has decoded. */
export function expectedPayload(name: string, event: Event): unknown {
  const expectation = expectations[name];
  if (expectation === undefined) throw new Error(`no expectation for ${name}`);
  return expectation(event);
}

/** What `readEventId` must say, but for the field number. */
export function expectedId(id: Id): object {
  const nothing = { label: "", aspect: "", configuration: "", run: 0, shard: 0, attempt: 0, name: "" };
  const content: Record<string, unknown> = { ...(memberOf(id) ?? {}) };
  const {
    configuration,
    pattern,
    primaryOutput,
    id: ownId,
    url,
    commandLineLabel,
    details,
    ...rest
  } = content;
  delete rest.opaqueCount;
  delete rest.downloader;
  return {
    ...nothing,
    ...rest,
    configuration: (configuration as { id?: string } | undefined)?.id ?? "",
    name: primaryOutput ?? ownId ?? url ?? commandLineLabel ?? details ?? "",
    patterns: pattern ?? [],
  };
}

function memberOf(id: Id): object | undefined {
  return Object.values(id).find((value) => typeof value === "object" && value !== null);
}

function ms(time: Time, millis?: number | null): number | undefined {
  if (time) return (time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
  return millis ? millis : undefined;
}

function reference(file: File): { name: string; uri: string } {
  return { name: file.name ?? "", uri: file.uri ?? "" };
}

/** Category and code lie in fields that the decoder's schema does not have: reading them is tested by itself. */
function failureOf(detail: { message?: string | null } | null | undefined): object {
  const numbers = detail
    ? { category: expect.any(Number), code: expect.any(Number) }
    : { category: 0, code: 0 };
  return { message: detail?.message ?? "", ...numbers };
}

const expectations: Readonly<Record<string, (event: Event) => unknown>> = {
  started: ({ started: it }) => ({
    uuid: it?.uuid ?? "",
    startedAtMs: ms(it?.startTime, it?.startTimeMillis),
    toolVersion: it?.buildToolVersion ?? "",
    optionsDescription: it?.optionsDescription ?? "",
    command: it?.command ?? "",
    workingDirectory: it?.workingDirectory ?? "",
    workspaceDirectory: it?.workspaceDirectory ?? "",
    serverPid: it?.serverPid ?? 0,
    host: it?.host ?? "",
    user: it?.user ?? "",
  }),
  progress: ({ progress: it }) => ({ stdout: it?.stdout ?? "", stderr: it?.stderr ?? "" }),
  aborted: ({ aborted: it }) => ({ reason: it?.reason ?? 0, description: it?.description ?? "" }),
  configured: ({ configured: it }) => ({
    targetKind: it?.targetKind ?? "",
    testSize: it?.testSize ?? 0,
    tags: it?.tag ?? [],
  }),
  completed: ({ completed: it }) => ({
    success: it?.success ?? false,
    tags: it?.tag ?? [],
    targetKind: it?.targetKind ?? "",
    testSize: it?.testSize ?? 0,
    testTimeoutMs: ms(it?.testTimeout, (it?.testTimeoutSeconds ?? 0) * 1000),
    failureMessage: it?.failureDetail?.message ?? "",
    outputGroupCount: it?.outputGroup?.length ?? 0,
  }),
  testResult: ({ testResult: it }) => ({
    status: it?.status ?? 0,
    statusDetails: it?.statusDetails ?? "",
    cachedLocally: it?.cachedLocally ?? false,
    cachedRemotely: it?.executionInfo?.cachedRemotely ?? false,
    startedAtMs: ms(it?.testAttemptStart, it?.testAttemptStartMillisEpoch),
    durationMs: ms(it?.testAttemptDuration, it?.testAttemptDurationMillis),
    strategy: it?.executionInfo?.strategy ?? "",
    hostname: it?.executionInfo?.hostname ?? "",
    exitCode: it?.executionInfo?.exitCode ?? 0,
    outputs: (it?.testActionOutput ?? []).map(reference),
    warnings: it?.warning ?? [],
    executionInfo: it?.executionInfo ?? undefined,
  }),
  testSummary: ({ testSummary: it }) => ({
    overallStatus: it?.overallStatus ?? 0,
    totalRunCount: it?.totalRunCount ?? 0,
    runCount: it?.runCount ?? 0,
    attemptCount: it?.attemptCount ?? 0,
    shardCount: it?.shardCount ?? 0,
    totalNumCached: it?.totalNumCached ?? 0,
    firstStartAtMs: ms(it?.firstStartTime, it?.firstStartTimeMillis),
    lastStopAtMs: ms(it?.lastStopTime, it?.lastStopTimeMillis),
    totalRunDurationMs: ms(it?.totalRunDuration, it?.totalRunDurationMillis),
  }),
  finished: ({ finished: it }) => ({
    overallSuccess: it?.overallSuccess ?? false,
    exitCode: it?.exitCode ? (it.exitCode.code ?? 0) : undefined,
    exitCodeName: it?.exitCode?.name ?? "",
    finishedAtMs: ms(it?.finishTime, it?.finishTimeMillis),
    failureMessage: it?.failureDetail?.message ?? "",
    failure: failureOf(it?.failureDetail),
    wasSuspended: it?.anomalyReport?.wasSuspended ?? false,
  }),
  buildMetrics: ({ buildMetrics: it }) => ({
    actionsCreated: it?.actionSummary?.actionsCreated ?? 0,
    actionsExecuted: it?.actionSummary?.actionsExecuted ?? 0,
    remoteCacheHits: it?.actionSummary?.remoteCacheHits ?? 0,
    actionCacheHits: it?.actionSummary?.actionCacheStatistics?.hits ?? 0,
    actionCacheMisses: it?.actionSummary?.actionCacheStatistics?.misses ?? 0,
    targetsLoaded: it?.targetMetrics?.targetsLoaded ?? 0,
    targetsConfigured: it?.targetMetrics?.targetsConfigured ?? 0,
    packagesLoaded: it?.packageMetrics?.packagesLoaded ?? 0,
    cpuTimeMs: it?.timingMetrics?.cpuTimeInMs ?? 0,
    wallTimeMs: it?.timingMetrics?.wallTimeInMs ?? 0,
    analysisPhaseTimeMs: it?.timingMetrics?.analysisPhaseTimeInMs ?? 0,
    executionPhaseTimeMs: it?.timingMetrics?.executionPhaseTimeInMs ?? 0,
  }),
  workspaceStatus: ({ workspaceStatus: it }) =>
    (it?.item ?? []).map((item) => ({ key: item.key ?? "", value: item.value ?? "" })),
  buildMetadata: ({ buildMetadata: it }) => new Map(Object.entries(it?.metadata ?? {})),
  optionsParsed: ({ optionsParsed: it }) => ({
    startupOptions: it?.startupOptions ?? [],
    explicitStartupOptions: it?.explicitStartupOptions ?? [],
    cmdLine: it?.cmdLine ?? [],
    explicitCmdLine: it?.explicitCmdLine ?? [],
    toolTag: it?.toolTag ?? "",
  }),
  unstructuredCommandLine: ({ unstructuredCommandLine: it }) => it?.args ?? [],
  expanded: ({ id, children, expanded: it }) => ({
    patterns: id?.pattern?.pattern ?? id?.patternSkipped?.pattern ?? [],
    skipped: Boolean(id?.patternSkipped),
    childCount: children?.length ?? 0,
    testSuiteCount: it?.testSuiteExpansions?.length ?? 0,
    testSuites: (it?.testSuiteExpansions ?? []).map((suite) => ({
      label: suite.suiteLabel ?? "",
      tests: suite.testLabels ?? [],
    })),
  }),
  configuration: ({ configuration: it }) => ({
    mnemonic: it?.mnemonic ?? "",
    platformName: it?.platformName ?? "",
    cpu: it?.cpu ?? "",
    isTool: it?.isTool ?? false,
    makeVariables: new Map(Object.entries(it?.makeVariable ?? {})),
  }),
  namedSetOfFiles: ({ namedSetOfFiles: it }) => ({
    fileCount: it?.files?.length ?? 0,
    fileSetCount: it?.fileSets?.length ?? 0,
  }),
  buildToolLogs: ({ buildToolLogs: it }) => (it?.log ?? []).map(reference),
  action: ({ id, action: it }) => ({
    success: it?.success ?? false,
    exitCode: it?.exitCode ?? 0,
    label: it?.label || (id?.actionCompleted?.label ?? ""),
    configuration: id?.actionCompleted?.configuration?.id ?? "",
    type: it?.type ?? "",
    primaryOutput: id?.actionCompleted?.primaryOutput ?? "",
    startedAtMs: ms(it?.startTime),
    endedAtMs: ms(it?.endTime),
    failureMessage: it?.failureDetail?.message ?? "",
    failure: failureOf(it?.failureDetail),
    commandLine: it?.commandLine ?? [],
    stdout: it?.stdout ? reference(it.stdout) : undefined,
    stderr: it?.stderr ? reference(it.stderr) : undefined,
  }),
  workspaceInfo: ({ workspaceInfo: it }) => ({ localExecRoot: it?.localExecRoot ?? "" }),
  fetch: ({ fetch: it }) => ({ success: it?.success ?? false }),
  targetSummary: ({ targetSummary: it }) => ({
    overallBuildSuccess: it?.overallBuildSuccess ?? false,
    overallTestStatus: it?.overallTestStatus ?? 0,
  }),
  testProgress: ({ id, testProgress: it }) => ({
    uri: it?.uri ?? "",
    opaqueCount: id?.testProgress?.opaqueCount ?? 0,
  }),
};
