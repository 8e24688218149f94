import { z } from "zod";
import { defineCommand } from "../command-line/command.ts";
import { switchFlag, valueFlag } from "../command-line/flag.ts";
import { historyAnswer, letterAnswer, queueAnswer, requestAnswer } from "../signal/answers.ts";
import { historyLines, letterLines, queueLines, requestLines } from "../signal/lines.ts";
import { readAnswer, readFlags, requestOf } from "../signal/operate.ts";

const limitFlag = valueFlag(
  { placeholder: "N", schema: z.coerce.number().int().min(1).max(200), description: "So many at most." },
  50,
);
const anyText = z.string();

/** A query without what is empty. */
function queryOf(parameters: Readonly<Record<string, string | number>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
}

export const signalQueues = defineCommand({
  name: "signal queues",
  about: [
    "Lists the queues: slots taken of how many, requests that wait, dead letters, the last green commit.",
  ],
  flags: {
    project: valueFlag({ placeholder: "P", schema: anyText, description: "Only of this project." }, ""),
    limit: limitFlag,
    ...readFlags,
  },
  examples: [{ line: "millrace signal queues", does: "All of the Millrace that runs here." }],
  run: async ({ flags, terminal }) => {
    const { project, limit } = flags;
    const shape = z.object({ queues: z.array(queueAnswer) });
    const path = `/queues?${queryOf({ project, limit })}`;
    const { given, read } = await readAnswer(flags, { path, shape });
    for (const line of flags.json ? [JSON.stringify(given)] : queueLines(read.queues)) terminal.print(line);
    return 0;
  },
});

export const signalRequests = defineCommand({
  name: "signal requests",
  about: ["Lists the requests of a queue, newest first."],
  operands: { shown: "QUEUE", min: 1, max: 1 },
  flags: {
    state: valueFlag(
      {
        placeholder: "S",
        schema: anyText,
        description:
          "Only in these states: accepted, processing, superseded, succeeded, failed, cancelled; separated by commas.",
      },
      "",
    ),
    limit: limitFlag,
    ...readFlags,
  },
  examples: [
    { line: "millrace signal requests main --state accepted,processing", does: "What is under way." },
  ],
  run: async ({ flags, operands, terminal }) => {
    const [queue = ""] = operands;
    const { state, limit } = flags;
    const shape = z.object({ requests: z.array(requestAnswer) });
    const path = `/queues/${encodeURIComponent(queue)}/requests?${queryOf({ state, limit })}`;
    const { given, read } = await readAnswer(flags, { path, shape });
    for (const line of flags.json ? [JSON.stringify(given)] : requestLines(read.requests))
      terminal.print(line);
    return 0;
  },
});

export const signalShow = defineCommand({
  name: "signal show",
  about: ["Shows a request: its state and why, its builds, and who changed its state when."],
  operands: { shown: "QUEUE/NUMBER", min: 1, max: 1 },
  flags: readFlags,
  examples: [{ line: "millrace signal show main/7", does: "The seventh request of the queue main." }],
  run: async ({ flags, operands, terminal }) => {
    const { queue, number } = requestOf(operands[0] ?? "");
    const path = `/queues/${encodeURIComponent(queue)}/requests/${number}`;
    const { given, read } = await readAnswer(flags, { path, shape: historyAnswer });
    for (const line of flags.json ? [JSON.stringify(given)] : historyLines(read)) terminal.print(line);
    return 0;
  },
});

export const signalLetters = defineCommand({
  name: "signal letters",
  about: [
    "Lists the dead letters: what a stage has given up, how often, and why. An open one waits for its reconciler; " +
      "a reconciled one has failed its request and freed its slot.",
  ],
  flags: {
    all: switchFlag("Also those that are redriven or discarded."),
    queue: valueFlag({ placeholder: "Q", schema: anyText, description: "Only of this queue." }, ""),
    limit: limitFlag,
    ...readFlags,
  },
  examples: [{ line: "millrace signal letters --queue main", does: "What was given up of the queue main." }],
  run: async ({ flags, terminal }) => {
    const { queue, limit } = flags;
    const state = flags.all ? "" : "open,reconciled";
    const shape = z.object({ letters: z.array(letterAnswer) });
    const path = `/signal/dead-letters?${queryOf({ state, queue, limit })}`;
    const { given, read } = await readAnswer(flags, { path, shape });
    for (const line of flags.json ? [JSON.stringify(given)] : letterLines(read.letters)) terminal.print(line);
    return 0;
  },
});
