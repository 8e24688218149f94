import { LcovMerge } from "../evidence/lcov.ts";
import { type AllowedRoots, readEnds, regularFileSize, resolveUri } from "../evidence/local-file.ts";
import type { Reduced } from "../reduce/reduced.ts";
import type { Artifact, CoverageFile } from "../store/details.ts";

const artifactsMax = 10_000;
const sizesMax = 500;
const coverageHalfBytes = 32 << 20;

/** Files that the build produced, test logs and coverage reports included, each once. */
export function collectArtifacts(
  reduced: Reduced,
  at: { roots: AllowedRoots; redact: (text: string) => string },
): { artifacts: Artifact[]; isTruncated: boolean } {
  const byUri = new Map<string, Artifact>();
  const add = (file: { name: string; uri: string }, kind: Artifact["kind"]): void => {
    if (file.uri === "" || byUri.has(file.uri) || byUri.size >= artifactsMax) return;
    byUri.set(file.uri, describe(file, { kind, ...at, readSize: byUri.size < sizesMax }));
  };
  for (const test of reduced.tests) {
    for (const output of test.kept.flatMap((attempt) => attempt.outputs)) {
      if (output.name === "test.lcov") add(output, "coverage");
      else if (test.status !== "passed" || output.name !== "test.xml") add(output, kindOfTest(output.name));
    }
  }
  for (const log of reduced.toolLogs) add(log, "file");
  for (const target of reduced.targets) {
    if (byUri.size >= artifactsMax) break;
    for (const file of reduced.filesOf(target)) add(file, file.isDirectory ? "directory" : "file");
  }
  return { artifacts: [...byUri.values()], isTruncated: byUri.size >= artifactsMax };
}

function kindOfTest(name: string): Artifact["kind"] {
  return name === "test.log" ? "test_log" : "file";
}

function describe(
  file: { name: string; uri: string },
  at: { kind: Artifact["kind"]; roots: AllowedRoots; redact: (t: string) => string; readSize: boolean },
): Artifact {
  const found = at.readSize || at.kind !== "file" ? resolveUri(file.uri, at.roots) : undefined;
  const isRemote = !file.uri.startsWith("file://") || at.roots.length === 0;
  const size = found?.kind === "path" ? regularFileSize(found.path) : undefined;
  return {
    name: file.name === "" ? (file.uri.split("/").at(-1) ?? "") : file.name,
    kind: isRemote ? "remote" : at.kind,
    uri: at.redact(file.uri),
    ...(size === undefined ? {} : { size_bytes: size }),
    locally_available: found === undefined ? !isRemote : found.kind === "path",
  };
}

/** All coverage reports of the build as one, or why there is none. */
export function collectCoverage(
  reduced: Reduced,
  roots: AllowedRoots,
): { files: readonly CoverageFile[]; reason: string | undefined } {
  const merge = new LcovMerge();
  let reason: string | undefined = "coverage_artifact_not_found";
  for (const test of reduced.tests) {
    for (const output of test.kept.flatMap((attempt) => attempt.outputs)) {
      if (output.name !== "test.lcov" && !output.name.endsWith("coverage.dat")) continue;
      const found = resolveUri(output.uri, roots);
      const text = found.kind === "path" ? readEnds(found.path, coverageHalfBytes) : undefined;
      if (text === undefined) {
        if (reason !== undefined && found.kind === "remote") reason = "remote_artifact_unavailable";
        continue;
      }
      merge.add(text);
      reason = undefined;
    }
  }
  return { files: merge.result(), reason };
}
