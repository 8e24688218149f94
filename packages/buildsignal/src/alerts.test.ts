import { readFile } from "node:fs/promises";
import path from "node:path";
import { createMetrics } from "@millrace/base/metrics";
import { expect, test } from "vitest";
import { withGauges } from "./gauge-metrics.ts";
import { createQueueMetrics } from "./queue/metrics.ts";
import { createStageMetrics } from "./stage-metrics.ts";

test("every metric that the alerts ask for is there", async () => {
  const metrics = createMetrics("buildsignal");
  createQueueMetrics(metrics);
  createStageMetrics(metrics);
  const nothing = { slots: [], letters: [], gates: [], deliveries: [] };
  const text = await withGauges(metrics, async () => nothing).text();
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]));
  const page = await readFile(path.join(import.meta.dirname, "../../../docs/buildsignal.md"), "utf8");
  const named = [...page.matchAll(/\bmillrace_signal_[a-z_]+/g)].map(([name]) =>
    name.replace(/_bucket$/, ""),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
