import type { CommandPolicy } from "./policy.ts";

/** What the operator decides about running Bazel. See `docs/mcp.md`. */
export interface RunSettings {
  /** Real paths; empty allows every workspace. */
  readonly allowedRoots: readonly string[];
  readonly policy: CommandPolicy;
  readonly bepTransport: "tail" | "fifo" | "bes";
  readonly bazelExecutable: string | undefined;
  readonly outputUserRoot: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly searchPath: string;
  readonly globalConcurrency: number;
  readonly maximumPendingInvocations: number;
  readonly defaultTimeoutSeconds: number;
  readonly maximumTimeoutSeconds: number;
  readonly maximumRunOutputBytes: number;
  readonly interruptGraceMs: number;
  readonly terminateGraceMs: number;
  readonly isolatedServerIdleSeconds: number;
  readonly supportedMajors: readonly number[];
  readonly allowUnsupported: boolean;
  readonly versionCheckTimeoutMs: number;
  /** Directory of the locks that all servers of this user share, whatever their cache roots. */
  readonly lockDirectory: string;
}
