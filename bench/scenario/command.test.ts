import { expect, test } from "vitest";
import { UsageError } from "../load/load-plan.ts";
import { parseScenarioCommand } from "./command.ts";

test("flat warms up within its load, huge before it", () => {
  expect(parseScenarioCommand(["flat", "--warm-up", "7"])).toMatchObject({
    preheat: undefined,
    load: { workload: "tiny", streams: 200, warmUpSeconds: 7 },
  });
  expect(parseScenarioCommand(["huge", "--warm-up", "7"])).toMatchObject({
    preheat: { workload: "real" },
    preheatSeconds: 7,
    load: { workload: "huge", streams: 1, builds: 1, seconds: undefined, warmUpSeconds: 0 },
  });
});

test("options take the place of what the scenario says", () => {
  const command = parseScenarioCommand(["idle", "--streams", "10000", "--seconds", "3", "--no-record"]);
  expect(command).toMatchObject({ load: { streams: 10_000, seconds: 3, rate: 0.1 }, records: false });
});

test.each([
  [[]],
  [["fast"]],
  [["flat", "--seconds", "soon"]],
  [["flat", "--streams", "0"]],
  [["flat", "--x"]],
])("%j makes no sense", (args) => {
  expect(() => parseScenarioCommand(args)).toThrow(UsageError);
});
