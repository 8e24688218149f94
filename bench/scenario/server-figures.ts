import type { DatabaseReading } from "./database-figures.ts";
import type { MetricNumbers } from "./metrics-text.ts";
import type { UsageByProcess } from "./process-usage.ts";

/** All that is read off the servers at one moment. */
export interface ServerReading {
  /** Milliseconds, monotonic. */
  readonly atMs: number;
  readonly usage: UsageByProcess;
  /** Of the whole machine. */
  readonly machineCpuMicros: number;
  /** Of the process that measures. */
  readonly ownCpuMicros: number;
  readonly database: DatabaseReading;
  readonly metrics: Readonly<Record<string, MetricNumbers>>;
}

/** What the servers did between two readings. Undefined is what could not be read. */
export interface ServerFigures {
  readonly walBytesPerEvent: number;
  /** Forced and others. */
  readonly checkpoints: number;
  readonly fullPageImages: number;
  /** By process, the children of each included, and `total`. */
  readonly cpuMicrosPerEvent: Readonly<Record<string, number>>;
  /** Events per second for each core's worth of CPU time that the servers used. */
  readonly eventsPerSecondPerCore: number;
  /** Cores that were busy with neither the servers nor the generator: far above 0, and the figures are not clean. */
  readonly otherCores: number;
  /** Of each process that tells it. */
  readonly loopDelayP99Ms: Readonly<Record<string, number>>;
  /** Transactions of the writers' group commit. */
  readonly groupsPerSecond: number;
  readonly worksPerGroup: number;
  readonly eventsPerGroup: number;
  readonly groupCommitMs: number;
  /** Transactions of everything in the database. */
  readonly commitsPerSecond: number;
  /** Of events as they came in, before compression. */
  readonly receivedBytesPerEvent: number;
  /** Streams that were open when the measuring ended. */
  readonly openStreams: number;
  /** Growth of all our processes since before the load ÷ streams. */
  readonly rssBytesPerStream: number;
  readonly rssBytes: Readonly<Record<string, number>>;
}

/** What the readings cannot tell. */
export interface Measured {
  readonly idle: UsageByProcess;
  readonly opened: ServerReading;
  readonly closed: ServerReading;
  readonly streams: number;
  /** Of the measured time. */
  readonly events: number;
  readonly generatorCpuMicros: number;
}

export function serverFigures(measured: Measured): ServerFigures {
  const { opened, closed, events, streams, idle } = measured;
  const seconds = (closed.atMs - opened.atMs) / 1_000;
  const perEvent = (value: number, digits = 2): number => ratio(value, events, digits);
  const cpu = cpuByProcess(measured);
  const all = (name: string, of: ServerReading): number =>
    Object.values(of.metrics).reduce((sum, numbers) => sum + (numbers.get(name) ?? 0), 0);
  const grown = (name: string): number => all(name, closed) - all(name, opened);
  const groups = grown("millrace_writer_group_works_count");
  const others = closed.machineCpuMicros - opened.machineCpuMicros - cpu.total - measured.generatorCpuMicros;
  const ownMicros = closed.ownCpuMicros - opened.ownCpuMicros;
  return {
    walBytesPerEvent: perEvent(closed.database.walBytes - opened.database.walBytes, 1),
    checkpoints: closed.database.checkpoints - opened.database.checkpoints,
    fullPageImages: closed.database.fullPageImages - opened.database.fullPageImages,
    cpuMicrosPerEvent: Object.fromEntries(
      Object.entries({ ...cpu.byProcess, total: cpu.total }).map(([name, micros]) => [
        name,
        perEvent(micros),
      ]),
    ),
    eventsPerSecondPerCore: ratio(events * 1e6, cpu.total, 0),
    otherCores: ratio(Math.max(0, others - ownMicros), seconds * 1e6, 2),
    loopDelayP99Ms: loopDelays(closed),
    groupsPerSecond: ratio(groups, seconds, 1),
    worksPerGroup: ratio(grown("millrace_writer_group_works_sum"), groups, 1),
    eventsPerGroup: ratio(grown("millrace_writer_events_committed_total"), groups, 1),
    groupCommitMs: ratio(grown("millrace_writer_commit_seconds_sum") * 1_000, groups, 2),
    commitsPerSecond: ratio(closed.database.commits - opened.database.commits, seconds, 1),
    receivedBytesPerEvent: ratio(
      grown("millrace_front_door_event_bytes_total"),
      grown("millrace_front_door_events_total"),
      0,
    ),
    openStreams: all("millrace_front_door_open_streams", closed),
    rssBytesPerStream: ratio(rssOf(closed.usage) - rssOf(idle), streams, 0),
    rssBytes: Object.fromEntries(
      Object.entries(closed.usage).map(([name, { rssBytes }]) => [name, rssBytes]),
    ),
  };
}

function cpuByProcess({ opened, closed }: Measured): { byProcess: Record<string, number>; total: number } {
  const byProcess = Object.fromEntries(
    Object.entries(closed.usage).map(([name, { cpuMicros }]) => [
      name,
      // A process that was started again has less behind it than the one before.
      Math.max(0, cpuMicros - (opened.usage[name]?.cpuMicros ?? 0)),
    ]),
  );
  return { byProcess, total: Object.values(byProcess).reduce((sum, micros) => sum + micros, 0) };
}

/** prom-client begins anew with each reading, so that of the end is of the time between the two. */
function loopDelays({ metrics }: ServerReading): Record<string, number> {
  const delays = Object.entries(metrics).flatMap(([name, numbers]) => {
    const seconds = numbers.get("nodejs_eventloop_lag_p99_seconds");
    return seconds === undefined ? [] : [[name, round(seconds * 1_000, 1)] as const];
  });
  return Object.fromEntries(delays);
}

function rssOf(usage: UsageByProcess): number {
  return Object.values(usage).reduce((sum, { rssBytes }) => sum + rssBytes, 0);
}

function ratio(value: number, of: number, digits: number): number {
  return of > 0 ? round(value / of, digits) : 0;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
