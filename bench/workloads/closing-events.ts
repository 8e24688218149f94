import type { build_event_stream } from "@millrace/proto/gen/bep";
import { timestamp } from "./opening-events.ts";
import type { BuildSketch } from "./sketch.ts";
import { libraryRules } from "./vocabulary.ts";

type Bep = build_event_stream.BuildEvent.$Properties;

/** Milliseconds that a build of so many targets takes. */
function durationMs(build: BuildSketch): number {
  return 2_500 + build.recipe.configured * 37 + (build.serverPid % 1_000);
}

export function finishedEvent(build: BuildSketch): Bep {
  const { outcome } = build;
  const finishMs = build.startMs + durationMs(build);
  const failed = build.targets.find(({ fails }) => fails);
  const message =
    outcome.kind === "build-failed"
      ? `Building ${failed?.label} failed: (Exit 1)`
      : "tests failed, see the log";
  return {
    id: { buildFinished: {} },
    children: [{ buildToolLogs: {} }, { buildMetrics: {} }],
    finished: {
      overallSuccess: outcome.exitCode === 0,
      exitCode: { name: outcome.exitCodeName, code: outcome.exitCode },
      finishTimeMillis: finishMs,
      finishTime: timestamp(finishMs),
      anomalyReport: {},
      ...(outcome.exitCode === 0 ? {} : { failureDetail: { message } }),
    },
  };
}

export function metricsEvent(build: BuildSketch): Bep {
  const { chance, recipe, startMs } = build;
  const executed = recipe.configured * 3 + chance.between(10, 400);
  const wallTimeInMs = durationMs(build);
  const mnemonics = [
    ...new Set(libraryRules.map(({ mnemonic }) => mnemonic)),
    "TestRunner",
    "SymlinkTree",
    "FileWrite",
  ];
  return {
    id: { buildMetrics: {} },
    buildMetrics: {
      actionSummary: {
        actionsCreated: executed + chance.between(5, 900),
        actionsExecuted: executed,
        actionData: mnemonics.map((mnemonic) => {
          const from = startMs + chance.between(500, 2_000);
          const userMs = chance.between(1, 400_000);
          return {
            mnemonic,
            actionsExecuted: chance.between(1, executed),
            actionsCreated: chance.between(executed, executed * 2),
            firstStartedMs: from,
            lastEndedMs: from + chance.between(1, wallTimeInMs),
            userTime: timestamp(userMs),
            systemTime: timestamp(Math.floor(userMs / chance.between(3, 17))),
          };
        }),
        remoteCacheHits: chance.between(0, executed),
        runnerCount: [
          { name: "total", count: executed },
          { name: "remote cache hit", count: chance.between(0, executed), execKind: "Remote" },
          { name: "linux-sandbox", count: chance.between(0, executed), execKind: "Local" },
          { name: "remote", count: chance.between(0, executed), execKind: "Remote" },
        ],
      },
      memoryMetrics: {
        usedHeapSizePostBuild: chance.between(200_000_000, 2_000_000_000),
        peakPostGcHeapSize: chance.between(200_000_000, 2_000_000_000),
        garbageMetrics: [
          { type: "G1 Eden Space", garbageCollected: chance.between(1_000_000_000, 4_000_000_000) },
        ],
      },
      targetMetrics: { targetsLoaded: recipe.configured * 4, targetsConfigured: recipe.configured * 2 },
      packageMetrics: { packagesLoaded: chance.between(20, 3_000) },
      timingMetrics: {
        cpuTimeInMs: wallTimeInMs * chance.between(2, 20) + chance.between(0, 999),
        wallTimeInMs,
        analysisPhaseTimeInMs: chance.between(200, 2_000),
        executionPhaseTimeInMs: wallTimeInMs - chance.between(200, 2_000),
        criticalPathTime: timestamp(chance.between(1_000, wallTimeInMs)),
      },
      cumulativeMetrics: { numAnalyses: chance.between(1, 90), numBuilds: chance.between(1, 90) },
      artifactMetrics: {
        sourceArtifactsRead: {
          sizeInBytes: chance.between(10_000, 900_000_000),
          count: chance.between(100, 90_000),
        },
        outputArtifactsSeen: {
          sizeInBytes: chance.between(10_000, 900_000_000),
          count: chance.between(100, 90_000),
        },
        topLevelArtifacts: {
          sizeInBytes: chance.between(10_000, 900_000_000),
          count: chance.between(10, 900),
        },
      },
      networkMetrics: {
        systemNetworkStats: {
          bytesSent: chance.between(10_000, 900_000_000),
          bytesRecv: chance.between(10_000, 4_000_000_000),
          packetsSent: chance.between(1_000, 900_000),
          packetsRecv: chance.between(1_000, 900_000),
        },
      },
    },
  };
}

export function toolLogsEvent(build: BuildSketch): Bep {
  const { chance, targets } = build;
  const seconds = durationMs(build) / 1_000;
  const steps = Array.from({ length: 6 }, () => {
    const target = targets[chance.between(0, targets.length - 1)];
    return `  ${(chance.between(1, 900) / 100).toFixed(2)}s action 'Compiling ${target?.files[0]?.name}'`;
  });
  const criticalPath = `Critical Path: ${(seconds * 0.7).toFixed(2)}s, Remote (${chance.between(0, 9_999) / 100}% of the time)\n`;
  const profile = { digest: chance.hex(64), length: chance.between(40_000, 9_000_000) };
  return {
    id: { buildToolLogs: {} },
    buildToolLogs: {
      log: [
        { name: "elapsed time", contents: Buffer.from(seconds.toFixed(6)) },
        { name: "critical path", contents: Buffer.from(criticalPath + steps.join("\n")) },
        {
          name: "process stats",
          contents: Buffer.from(`${chance.between(20, 900)} processes: 14 internal, 9 remote.`),
        },
        { name: "command.profile.gz", uri: `${build.blobs}/${profile.digest}/${profile.length}`, ...profile },
      ],
    },
    lastMessage: true,
  };
}

export function symlinksEvent(build: BuildSketch): Bep {
  const links = ["bin", "out", "testlogs", build.project].map((name) => ({
    path: `bazel-${name}`,
    action: 1,
    target: name === build.project ? build.execRoot : `${build.execRoot}/bazel-out/k8-fastbuild/${name}`,
  }));
  return {
    id: { convenienceSymlinksIdentified: {} },
    convenienceSymlinksIdentified: { convenienceSymlinks: links },
  };
}
