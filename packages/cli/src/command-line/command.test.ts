import { MillraceError } from "@millrace/base/errors";
import { expect, test } from "vitest";
import { z } from "zod";
import { closest } from "./closest.ts";
import { defineCommand } from "./command.ts";
import { switchFlag, valueFlag } from "./flag.ts";
import { overviewHelp } from "./help.ts";
import type { Terminal } from "./terminal.ts";

/** A terminal that keeps what is written. */
function notepad(): Terminal & { printed: string[]; complained: string[] } {
  const printed: string[] = [];
  const complained: string[] = [];
  return {
    printed,
    complained,
    print: (line) => printed.push(line),
    complain: (line) => complained.push(line),
    write: async () => {},
    isInteractive: false,
    isColoured: false,
  };
}

const brew = defineCommand({
  name: "brew",
  about: ["Makes coffee."],
  operands: { shown: "CUPS", min: 1, max: 1 },
  flags: {
    strength: valueFlag(
      { placeholder: "N", schema: z.coerce.number(), description: "How strong it gets." },
      3,
    ),
    decaf: switchFlag("Without."),
  },
  examples: [{ line: "millrace brew 2 --strength 5", does: "Wakes two." }],
  run: async ({ operands, terminal }) => {
    if (operands[0] === "0")
      throw new MillraceError({ remedy: "reject", code: "no-cups", message: "No cups." });
    terminal.print(`${operands[0]} cups`);
    return 0;
  },
});

async function run(...args: string[]) {
  const terminal = notepad();
  const code = await brew.run(args, { terminal, environment: {} });
  return { code, printed: terminal.printed, complained: terminal.complained };
}

test("a command runs with what it was given", async () => {
  expect(await run("2")).toEqual({ code: 0, printed: ["2 cups"], complained: [] });
});

test("help shows usage, every flag with its default, and examples", async () => {
  const { code, printed } = await run("--help");
  const page = printed.join("\n");
  expect(code).toBe(0);
  expect(page).toContain("Usage: millrace brew CUPS [flags]");
  expect(page).toMatch(/ {2}--strength N {2}How strong it gets\. \[default 3\]/);
  expect(page).toMatch(/ {2}--decaf +Without\./);
  expect(page).toContain("millrace brew 2 --strength 5");
  expect(Math.max(...page.split("\n").map((line) => line.length))).toBeLessThanOrEqual(96);
});

test("what is wrongly asked ends with 2 and the way to help", async () => {
  const { code, complained } = await run();
  expect(code).toBe(2);
  expect(complained).toEqual(["millrace brew: CUPS is missing.", "See: millrace brew --help"]);
});

test("a failure of the world is a sentence and ends with 1", async () => {
  expect(await run("0")).toMatchObject({ code: 1, complained: ["millrace brew: No cups."] });
});

test("the overview names every command", () => {
  const page = overviewHelp([
    { name: "up", summary: "Starts." },
    { name: "export", summary: "Writes." },
  ]);
  expect(page).toMatch(/ {2}up {6}Starts\./);
  expect(page).toMatch(/ {2}export {2}Writes\./);
});

test.each([
  ["grcp-port", "grpc-port"],
  ["exprot", "export"],
  ["wath", "watch"],
  ["banana", undefined],
])("%s was meant to be %s", (typed, name) => {
  expect(closest(typed, ["grpc-port", "http-port", "export", "watch"])).toBe(name);
});
