/** Numbers of build_event_stream.TestStatus. A number not listed here is kept as it is. */
export const testStatus = {
  noStatus: 0,
  passed: 1,
  flaky: 2,
  timeout: 3,
  failed: 4,
  incomplete: 5,
  remoteFailure: 6,
  failedToBuild: 7,
  toolHaltedBeforeTesting: 8,
} as const;

/** Numbers of build_event_stream.Aborted.AbortReason. */
export const abortReason = {
  unknown: 0,
  userInterrupted: 1,
  timeOut: 2,
  remoteEnvironmentFailure: 3,
  internal: 4,
  loadingFailure: 5,
  analysisFailure: 6,
  skipped: 7,
  noAnalyze: 8,
  noBuild: 9,
  incomplete: 10,
  outOfMemory: 11,
} as const;

/** Numbers of build_event_stream.TestSize. */
export const testSize = { unknown: 0, small: 1, medium: 2, large: 3, enormous: 4 } as const;

/** The name that Bazel gives to a number (`TIMEOUT`, `NO_BUILD`), or the number as text when it is newer than we are. */
export function protocolName(names: Readonly<Record<string, number>>, value: number): string {
  const name = Object.keys(names).find((key) => names[key] === value);
  return name === undefined ? String(value) : name.replaceAll(/[A-Z]/g, "_$&").toUpperCase();
}
