import { cpuUsage } from "node:process";
import { type Clock, systemClock } from "@millrace/base/clock";
import { connect, type Database } from "@millrace/db/connect";
import { forceCheckpoint, readDatabase, tableBytes } from "./database-figures.ts";
import { scrape } from "./metrics-text.ts";
import type { Millrace } from "./millrace.ts";
import { machineCpuMicros, type UsageByProcess, usageOf } from "./process-usage.ts";
import type { ServerReading } from "./server-figures.ts";

/** Reads off a Millrace what a run does to it. */
export class ServerWatch {
  private readonly millrace: Millrace;
  private readonly clock: Clock;
  private readonly database: Database;
  private readonly checkpoints: (() => void)[] = [];

  constructor(millrace: Millrace, clock: Clock = systemClock) {
    this.millrace = millrace;
    this.clock = clock;
    this.database = connect({ url: millrace.addresses.databaseUrl, max: 2, name: "bench" });
  }

  usage(): UsageByProcess {
    return usageOf(this.millrace.pids());
  }

  /** CPU times are taken at once, before anything is waited for: they belong to the moment of the call. */
  async read(): Promise<ServerReading> {
    const usage = this.usage();
    const { user, system } = cpuUsage();
    const at = { atMs: this.clock.monotonic(), usage, machineCpuMicros: machineCpuMicros() };
    const [database, metrics] = await Promise.all([
      readDatabase(this.database.sql),
      scrape(this.millrace.metricsUrls),
    ]);
    return { ...at, ownCpuMicros: user + system, database, metrics };
  }

  /** Forces so many checkpoints, the first now, the others evenly over the time. */
  forceCheckpoints(count: number, overMs: number): void {
    for (let nth = 0; nth < count; nth += 1) {
      const force = (): void => void forceCheckpoint(this.database.sql).catch(() => {});
      if (nth === 0) force();
      else this.checkpoints.push(this.clock.after((overMs * nth) / count, force));
    }
  }

  tableBytes(): Promise<Record<string, number>> {
    return tableBytes(this.database.sql);
  }

  async close(): Promise<void> {
    for (const cancel of this.checkpoints) cancel();
    await this.database.close();
  }
}
