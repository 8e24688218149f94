import { expect, test } from "vitest";
import { UsageError } from "../load/load-plan.ts";
import { parseChaosCommand } from "./command.ts";
import { faultNames } from "./fault.ts";

test("without arguments every fault comes within seven minutes", () => {
  const { faults, seconds } = parseChaosCommand([]);
  expect(new Set(faults)).toEqual(new Set(faultNames));
  expect(seconds).toBe(420);
});

test("faults are selected by name, in the order given", () => {
  expect(parseChaosCommand(["--faults", "cut,kill-nats", "--minutes", "0.5"])).toMatchObject({
    faults: ["cut", "kill-nats"],
    seconds: 30,
  });
});

test.each([[["--faults", "flood"]], [["--minutes", "x"]], [["--what"]]])("%j makes no sense", (args) => {
  expect(() => parseChaosCommand(args)).toThrow(UsageError);
});

test("at fail points the processes die by themselves, unless faults are asked for beside", () => {
  expect(parseChaosCommand(["--fail-points"])).toMatchObject({ faults: [], atFailPoints: true });
  expect(parseChaosCommand(["--fail-points", "--faults", "cut"])).toMatchObject({ faults: ["cut"] });
});
