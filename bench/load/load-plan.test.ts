import { expect, test } from "vitest";
import { parseLoadCommand, shareOf, UsageError } from "./load-plan.ts";

test("without arguments it measures tiny builds over 200 streams for 10 s", () => {
  expect(parseLoadCommand([])).toEqual({
    processes: 1,
    asJson: false,
    plan: {
      address: "127.0.0.1:1985",
      workload: "tiny",
      streams: 200,
      seconds: 10,
      builds: undefined,
      rate: 0,
      rampSeconds: 0,
      warmUpSeconds: 0,
      log: undefined,
      apiKey: undefined,
      share: { index: 0, count: 1 },
    },
  });
});

test("a number of builds takes the place of the time; a rate spreads the streams over its gap", () => {
  const { plan } = parseLoadCommand(["--builds", "7", "--rate", "2"]);
  expect(plan).toMatchObject({ seconds: undefined, builds: 7, rate: 2, rampSeconds: 0.5 });
  expect(parseLoadCommand(["--rate", "0.01"]).plan.rampSeconds).toBe(10);
  expect(parseLoadCommand(["--rate", "2", "--ramp", "3"]).plan.rampSeconds).toBe(3);
});

test.each([
  [["--workload", "large"], "--workload large"],
  [["--streams", "0"], "--streams 0"],
  [["--streams", "1.5"], "whole number"],
  [["--streams", "10001"], "to 10000"],
  [["--streams", "2", "--processes", "3"], "--processes 3"],
  [["--rate", "-1"], "--rate"],
  [["--seconds", ""], "--seconds"],
  [["--seconds", "5", "--builds", "5"], "exclude each other"],
  [["--speed", "5"], "--speed"],
])("%j makes no sense", (args, says) => {
  expect(() => parseLoadCommand(args)).toThrow(UsageError);
  expect(() => parseLoadCommand(args)).toThrow(says);
});

test("shares add up to the whole and none is empty", () => {
  const { plan } = parseLoadCommand(["--streams", "10", "--builds", "23"]);
  const shares = [0, 1, 2, 3].map((index) => shareOf(plan, { index, count: 4 }));
  expect(shares.map((share) => share.streams)).toEqual([3, 3, 2, 2]);
  expect(shares.map((share) => share.builds)).toEqual([6, 6, 6, 5]);
});
