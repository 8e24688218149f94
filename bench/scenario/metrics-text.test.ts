import { expect, test } from "vitest";
import { parseMetrics } from "./metrics-text.ts";

test("reads values, passes over comments, adds up what differs in labels", () => {
  const text = [
    "# HELP works_total Works.",
    "# TYPE works_total counter",
    'works_total{outcome="committed",process="writer"} 4',
    'works_total{outcome="repeat {odd}",process="writer"} 1',
    "lag_seconds 1.5e-3",
  ].join("\n");
  expect([...parseMetrics(text)]).toEqual([
    ["works_total", 5],
    ["lag_seconds", 0.0015],
  ]);
});
