import { expect, test } from "vitest";
import { type ServerReading, serverFigures } from "./server-figures.ts";

const usage = (cpuMicros: number, rssBytes: number) => ({ cpuMicros, rssBytes });

const idle = { ingest: usage(0, 1_000), nats: usage(0, 500) };

const opened: ServerReading = {
  atMs: 1_000,
  usage: { ingest: usage(5_000, 2_000), nats: usage(90_000, 500) },
  machineCpuMicros: 0,
  ownCpuMicros: 0,
  database: { walBytes: 100, fullPageImages: 1, commits: 10, checkpoints: 1 },
  metrics: {},
};

const closed: ServerReading = {
  atMs: 3_000,
  usage: { ingest: usage(45_000, 3_000), nats: usage(10_000, 600) },
  machineCpuMicros: 1_060_000,
  ownCpuMicros: 10_000,
  database: { walBytes: 20_100, fullPageImages: 5, commits: 50, checkpoints: 3 },
  metrics: { ingest: new Map([["nodejs_eventloop_lag_p99_seconds", 0.0123]]), "writer-1": new Map() },
};

const figures = serverFigures({ idle, opened, closed, streams: 10, events: 100, generatorCpuMicros: 10_000 });

test("costs are per event; a process that was started again costs nothing before that", () => {
  expect(figures.cpuMicrosPerEvent).toEqual({ ingest: 400, nats: 0, total: 400 });
  expect(figures.eventsPerSecondPerCore).toBe(2_500);
  expect(figures.walBytesPerEvent).toBe(200);
  expect(figures.checkpoints).toBe(2);
  expect(figures.commitsPerSecond).toBe(20);
});

test("memory is the growth of all since before the load", () => {
  expect(figures.rssBytesPerStream).toBe(210);
});

test("cores that nobody accounts for were busy with something else", () => {
  expect(figures.otherCores).toBe(0.5);
});

test("what a process does not tell is left out or 0", () => {
  expect(figures.loopDelayP99Ms).toEqual({ ingest: 12.3 });
  expect(figures.worksPerGroup).toBe(0);
});
