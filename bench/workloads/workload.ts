/**
 * What a load generator uploads over and over: a fixed set of builds, the same bytes on every machine and in every run,
 * so that results can be compared and an oracle can make the sent bytes again. `hash` names the set: results of
 * workloads with different hashes say nothing about each other.
 */
export interface Workload {
  readonly name: WorkloadName;
  /** First 16 hex digits of a SHA-256 over all variants' payloads (for huge: over its recipe and first 1,000). */
  readonly hash: string;
  /** Events of one build, the end of the stream included. */
  readonly eventsPerBuild: number;
  /** How many different builds there are; build n of a run is variant n % variants. */
  readonly variants: number;
  /** BEP payloads of a variant, without the end of the stream. For all but huge the same arrays every time. */
  payloads(variant: number): Iterable<Uint8Array>;
  /** The same as they must be stored: the few secrets planted in them masked (planted-secrets.ts). */
  storedPayloads(variant: number): Iterable<Uint8Array>;
  /** Bazel's exit code of that variant's build. */
  exitCode(variant: number): number;
}

export type WorkloadName = "tiny" | "real" | "huge" | "log";
