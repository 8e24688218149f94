import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Clock, delay, systemClock } from "@millrace/base/clock";
import { startEmbeddedPostgres } from "@millrace/cli/services/embedded-postgres";
import { connect, type Sql } from "@millrace/db/connect";
import { LatencyHistogram } from "../load/latency-histogram.ts";
import {
  type DatabaseReading,
  forceCheckpoint,
  readDatabase,
  serverVersion,
} from "../scenario/database-figures.ts";
import { usageOf } from "../scenario/process-usage.ts";
import type { Workload } from "../workloads/workload.ts";
import { type CopyGroup, copyGroups, copyTable, copyText } from "./copy-groups.ts";
import type { CopyFigures } from "./floor-line.ts";

export interface CopyPlan {
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** COPYs at the same time: Millrace has two writers. */
  readonly connections: number;
  readonly segmentsPerGroup: number;
}

interface Reading {
  readonly atMs: number;
  readonly cpuMicros: number;
  readonly database: DatabaseReading;
}

/** Copies groups into a bare table of a PostgreSQL with Millrace's settings, each in a transaction of its own. */
export async function measureCopy(
  workload: Workload,
  plan: CopyPlan,
): Promise<{ figures: CopyFigures; postgres: string }> {
  const groups = await copyGroups(workload, plan.segmentsPerGroup);
  const dataDir = await mkdtemp(path.join(tmpdir(), "millrace-floor-"));
  const server = await startEmbeddedPostgres({ dataDir, port: 0, onLine: () => {}, ephemeral: true });
  const database = connect({ url: server.socketUrl, max: plan.connections + 2, name: "floor" });
  try {
    await database.sql.unsafe(copyTable);
    await database.sql.unsafe("alter table floor alter column data set storage external");
    const copying = new Copying(database.sql, groups);
    const read = async (): Promise<Reading> => ({
      atMs: systemClock.monotonic(),
      cpuMicros: usageOf({ postgres: server.pid })["postgres"]?.cpuMicros ?? 0,
      database: await readDatabase(database.sql),
    });
    const figures = await copying.measure(plan, read);
    return { figures, postgres: await serverVersion(database.sql) };
  } finally {
    await database.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Copying {
  private readonly sql: Sql;
  private readonly groups: readonly CopyGroup[];
  private readonly clock: Clock = systemClock;
  private commits = new LatencyHistogram();
  private events = 0;
  private bytes = 0;
  private isEnding = false;

  constructor(sql: Sql, groups: readonly CopyGroup[]) {
    this.sql = sql;
    this.groups = groups;
  }

  async measure(plan: CopyPlan, read: () => Promise<Reading>): Promise<CopyFigures> {
    const { clock } = this;
    const copiers = Array.from({ length: plan.connections }, (_, nth) => this.copyOver(nth));
    const copied = Promise.all(copiers);
    await Promise.race([delay(clock, plan.warmUpSeconds * 1_000), copied]);
    const opened = await read();
    this.commits = new LatencyHistogram();
    this.events = 0;
    this.bytes = 0;
    const halfMs = plan.seconds * 500;
    await forceCheckpoint(this.sql);
    await Promise.race([delay(clock, halfMs), copied]);
    await forceCheckpoint(this.sql);
    await Promise.race([delay(clock, halfMs), copied]);
    const closed = await read();
    const figures = this.figures(opened, closed);
    this.isEnding = true;
    await copied;
    return figures;
  }

  private async copyOver(nth: number): Promise<void> {
    for (let turn = nth; !this.isEnding; turn += 1) {
      const group = this.groups[turn % this.groups.length];
      if (group === undefined) throw new Error("the workload is too small for a group of so many segments");
      const startMs = this.clock.monotonic();
      await copyGroup(this.sql, group.bytes);
      this.commits.record(this.clock.monotonic() - startMs);
      this.events += group.events;
      this.bytes += group.bytes.length;
    }
  }

  private figures(opened: Reading, closed: Reading): CopyFigures {
    const { commits, events, bytes } = this;
    const seconds = (closed.atMs - opened.atMs) / 1_000;
    const round = (value: number): number => Number(value.toFixed(2));
    const perEvent = (value: number): number => round(value / Math.max(1, events));
    const cpuMicros = perEvent(closed.cpuMicros - opened.cpuMicros);
    return {
      eventsPerSecond: Math.round(events / seconds),
      groupsPerSecond: round(commits.count / seconds),
      eventsPerGroup: round(events / Math.max(1, commits.count)),
      groupCommitP50Ms: round(commits.percentile(0.5)),
      groupCommitP99Ms: round(commits.percentile(0.99)),
      walBytesPerEvent: perEvent(closed.database.walBytes - opened.database.walBytes),
      storedBytesPerEvent: perEvent(bytes),
      checkpoints: closed.database.checkpoints - opened.database.checkpoints,
      cpuMicrosPerEvent: { postgres: cpuMicros, total: cpuMicros },
    };
  }
}

async function copyGroup(sql: Sql, bytes: Buffer): Promise<void> {
  const stream = await sql.unsafe(copyText).writable();
  await new Promise<void>((resolve, reject) => {
    stream.once("error", reject);
    stream.once("finish", resolve);
    stream.end(bytes);
  });
}
