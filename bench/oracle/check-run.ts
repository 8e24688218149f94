import { assert } from "@millrace/base/assert";
import { type Clock, systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import type { BlobStore } from "@millrace/blobs/blob-store";
import { openDiskStore } from "@millrace/blobs/disk-store";
import type { BuildRecord } from "../load/run-log.ts";
import type { Workload } from "../workloads/workload.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import { type CheckedBuild, checkAttempt, findAttempt } from "./check-attempt.ts";
import { checkEvents } from "./check-events.ts";
import { checkExtras, checkUnlogged } from "./check-extras.ts";
import { checkLogs } from "./check-log.ts";
import { checkRows } from "./check-rows.ts";
import { whyNotDurable } from "./durability.ts";
import { Expectations } from "./expectations.ts";
import { isDone, type LoggedRun, readLoggedRun } from "./logged-run.ts";
import { SegmentBytes } from "./segment-bytes.ts";
import { inSnapshot, type Snapshot } from "./snapshot.ts";
import { readAttempts, type StoredAttempt } from "./stored-attempts.ts";
import { Findings, type Verdict } from "./verdict.ts";

export interface OracleOptions {
  /** Run logs of the generator's processes. */
  readonly logs: readonly string[];
  readonly databaseUrl: string;
  /** Directory of the disk store; without it, content that lies there cannot be read and counts as lost. */
  readonly blobDir?: string;
  /** Compare bytes and rows of so many builds only, spread evenly, and of all whose upload did not go well. */
  readonly sample?: number;
  /** For who has them already; by default they are made. */
  readonly workloads?: (name: string) => Workload;
  readonly clock?: Clock;
}

/** Builds whose rows and segments are read together, by their events. */
const eventsAtOnce = 60_000;

/**
 * Proves from the generator's log alone that nothing was lost, doubled or changed. Everything is read in one snapshot; the
 * system may run meanwhile, but events on their way then count as lost if they were acknowledged: end the load first.
 * Bounded memory: a page of segments at a time, the attempts' positions, one expectation per variant.
 *
 * Rejects when a log or the database cannot be read. The database's clock must be this machine's: what was created
 * before the run began is not looked at.
 */
export async function checkRun(options: OracleOptions): Promise<Verdict> {
  const { sample, clock = systemClock } = options;
  assert(sample === undefined || (Number.isInteger(sample) && sample >= 0), "a sample is a number of builds");
  const startedAt = clock.monotonic();
  const run = await readLoggedRun(options.logs);
  const blobs = await openBlobs(options, clock);
  const findings = new Findings();
  const oracle = new Oracle({
    run,
    findings,
    bytes: await SegmentBytes.open(blobs),
    expectations: new Expectations(options.workloads ?? workloadNamed),
    sample,
  });
  const reason = await inSnapshot(options.databaseUrl, (snapshot) => oracle.check(snapshot));
  const seconds = (clock.monotonic() - startedAt) / 1_000;
  const builds = [...run.builds.values()];
  return {
    verdict: reason !== undefined ? "refused" : findings.isEmpty ? "clean" : "findings",
    reason: reason ?? "",
    builds: builds.length,
    compared: oracle.compared,
    eventsStored: findings.eventsStored,
    eventsCompared: findings.eventsCompared,
    eventsAcked: builds.reduce((sum, { ackedTo }) => sum + ackedTo, 0),
    lost: findings.lost,
    doubled: findings.doubled,
    counts: findings.counts,
    findings: findings.first,
    seconds: Math.round(seconds * 10) / 10,
    buildsPerSecond: Math.round(builds.length / seconds),
  };
}

async function openBlobs({ blobDir }: OracleOptions, clock: Clock): Promise<BlobStore | undefined> {
  return blobDir === undefined
    ? undefined
    : openDiskStore({ directory: blobDir, random: systemRandom, clock });
}

class Oracle {
  compared = 0;
  private readonly run: LoggedRun;
  private readonly findings: Findings;
  private readonly bytes: SegmentBytes;
  private readonly expectations: Expectations;
  private readonly isSampled: (record: BuildRecord, index: number) => boolean;

  constructor(of: {
    run: LoggedRun;
    findings: Findings;
    bytes: SegmentBytes;
    expectations: Expectations;
    sample: number | undefined;
  }) {
    this.run = of.run;
    this.findings = of.findings;
    this.bytes = of.bytes;
    this.expectations = of.expectations;
    const every = of.sample === undefined ? 1 : Math.max(1, Math.floor(of.run.builds.size / of.sample));
    this.isSampled = (record, index) => !isDone(record) || (of.sample !== 0 && index % every === 0);
  }

  /** Answers why it refuses to judge, or undefined. */
  async check(snapshot: Snapshot): Promise<string | undefined> {
    const reason = this.whyNot() ?? (await whyNotDurable(snapshot));
    if (reason !== undefined) return reason;
    const attempts = await this.sortAttempts(snapshot);
    let page: { checked: CheckedBuild; isSampled: boolean }[] = [];
    let events = 0;
    let index = 0;
    for (const [invocationId, record] of this.run.builds) {
      const of = { attempts: attempts.get(invocationId) ?? [], findings: this.findings };
      const attempt = findAttempt(record, of);
      if (attempt !== undefined)
        page.push({ checked: { record, attempt }, isSampled: this.isSampled(record, index) });
      index += 1;
      events += record.build.events;
      if (events < eventsAtOnce) continue;
      await this.checkPage(page, snapshot);
      page = [];
      events = 0;
    }
    await this.checkPage(page, snapshot);
    await checkExtras({ snapshot, run: this.run, findings: this.findings });
    return undefined;
  }

  private whyNot(): string | undefined {
    if (this.run.builds.size === 0) return "the log has no build: it proves nothing";
    for (const { build } of this.run.builds.values()) {
      const reason = this.expectations.whyNot(build);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** Attempts by invocation; those that the log does not know are judged on the way. */
  private async sortAttempts(snapshot: Snapshot): Promise<Map<string, StoredAttempt[]>> {
    const attempts = new Map<string, StoredAttempt[]>();
    for await (const attempt of readAttempts(snapshot)) {
      if ("missing" in attempt) {
        const detail = `attempt ${attempt.attemptId} has no row in ${attempt.missing}`;
        this.findings.add("extra", { invocationId: "", detail });
      } else if (this.run.builds.has(attempt.invocationId)) {
        attempts.set(attempt.invocationId, [...(attempts.get(attempt.invocationId) ?? []), attempt]);
      } else checkUnlogged(attempt, { run: this.run, findings: this.findings });
    }
    return attempts;
  }

  private async checkPage(
    page: readonly { checked: CheckedBuild; isSampled: boolean }[],
    snapshot: Snapshot,
  ): Promise<void> {
    const { expectations, findings, bytes } = this;
    const sampled = page.filter(({ isSampled }) => isSampled).map(({ checked }) => checked);
    this.compared += sampled.length;
    for (const { checked } of page) checkAttempt(checked, { expectations, findings });
    const byAttempt = <T>(due: (one: CheckedBuild, isSampled: boolean) => T): Map<number, T> =>
      new Map(page.map(({ checked, isSampled }) => [checked.attempt.attemptId, due(checked, isSampled)]));
    const events = byAttempt(({ record: { build }, attempt }, isSampled) => ({
      build,
      last: attempt.lastEventSeq,
      events: isSampled ? expectations.events(build)[Symbol.iterator]() : undefined,
    }));
    await checkEvents(events, { snapshot, bytes, findings });
    const logs = byAttempt(({ record: { build }, attempt }, isSampled) => ({
      build,
      expected: isSampled ? expectations.of(build, attempt.lastEventSeq) : undefined,
    }));
    await checkLogs(logs, { snapshot, bytes, findings });
    await checkRows(sampled, { snapshot, expectations, findings });
  }
}
