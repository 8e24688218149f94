import { readFile } from "node:fs/promises";
import { errorText, MillraceError } from "@millrace/base/errors";
import type { SignalCommand } from "@millrace/proto/channels";
import { z } from "zod";
import { defineCommand, type Invocation } from "../command-line/command.ts";
import { valueFlag } from "../command-line/flag.ts";
import type { Terminal } from "../command-line/terminal.ts";
import { requestOf, sendCommand, sendFlags } from "../signal/operate.ts";

type Sent = Invocation<typeof sendFlags>;

/** Sends and says in a line what came of it. */
async function send(
  { flags, terminal }: { flags: Sent["flags"]; terminal: Terminal },
  command: SignalCommand,
): Promise<number> {
  const { requestId, state, version } = await sendCommand(flags, { command, terminal });
  if (requestId !== undefined) terminal.print(`${requestId}  ${state ?? ""}`.trimEnd());
  else terminal.print(version === undefined ? "Done." : `Done: version ${version}.`);
  return 0;
}

export const signalIngest = defineCommand({
  name: "signal ingest",
  about: [
    "Announces a commit to a queue, which decides whether to build it. Without a commit the queue's source control is " +
      "asked for the head. May be repeated: a commit that has a request keeps it, unless it ended without a verdict.",
  ],
  operands: { shown: "QUEUE [COMMIT]", min: 1, max: 2 },
  flags: sendFlags,
  examples: [
    { line: "millrace signal ingest main git:repo@0f3c…", does: "Prints the request and its state." },
  ],
  run: (asked) => {
    const [queue = "", uri] = asked.operands;
    return send(asked, { kind: "ingest", queue, ...(uri !== undefined && { uri }) });
  },
});

export const signalCancel = defineCommand({
  name: "signal cancel",
  about: [
    "Cancels a request. One without a build ends at once; a build is asked to stop, and how it ends is the outcome.",
  ],
  operands: { shown: "QUEUE/NUMBER", min: 1, max: 1 },
  flags: sendFlags,
  examples: [{ line: "millrace signal cancel main/7", does: "Prints the request's state afterwards." }],
  run: (asked) => send(asked, { kind: "cancel", requestId: requestOf(asked.operands[0] ?? "").id }),
});

/** Redriving and discarding differ in a word. */
function settling(kind: "redrive" | "discard", words: { about: string; example: string }) {
  return defineCommand({
    name: `signal ${kind}`,
    about: [words.about],
    operands: { shown: "ID…", min: 1, max: 1_000 },
    flags: sendFlags,
    examples: [{ line: `millrace signal ${kind} 12 13`, does: words.example }],
    run: async (asked) => {
      const ids = asked.operands.map(letterId);
      for (const id of ids) await send(asked, { kind, letter: { id } });
      return 0;
    },
  });
}

function letterId(operand: string): number {
  const id = Number(operand);
  if (Number.isSafeInteger(id) && id > 0) return id;
  const message = `${JSON.stringify(operand)} is no dead letter: millrace signal letters shows their numbers.`;
  throw new MillraceError({ remedy: "reject", code: "not-a-letter", message });
}

export const signalRedrive = settling("redrive", {
  about:
    "Has dead letters handled again, on the stage that gave them up. A request that its reconciler has failed stays " +
    "failed: announce its commit again instead.",
  example: "Two letters, as millrace signal letters numbers them.",
});

export const signalDiscard = settling("discard", {
  about:
    "Sets dead letters aside for good: nobody handles them any more, and they stay on record for some months.",
  example: "Two letters, as millrace signal letters numbers them.",
});

const gateFlags = {
  stage: valueFlag(
    {
      placeholder: "S",
      schema: z.string(),
      description: "A whole stage instead of a queue: process, build, buildsignal or record.",
    },
    "",
  ),
  ...sendFlags,
};

function gateOf(asked: Invocation<typeof gateFlags>): { stage: string; key: string } {
  const [queue] = asked.operands;
  if ((queue === undefined) === (asked.flags.stage === "")) {
    const message = "say which: a QUEUE, or --stage STAGE for all queues.";
    throw new MillraceError({ remedy: "reject", code: "which-gate", message });
  }
  return queue === undefined ? { stage: asked.flags.stage, key: "" } : { stage: "process", key: queue };
}

export const signalStop = defineCommand({
  name: "signal stop",
  about: [
    "Keeps a queue's requests from being admitted; what is being validated goes on. With --stage, keeps everything of one " +
      "stage back. Nothing is lost or counted: it goes on where it was after millrace signal start.",
  ],
  operands: { shown: "[QUEUE]", min: 0, max: 1 },
  flags: {
    reason: valueFlag(
      { placeholder: "WHY", schema: z.string().max(500), description: "Shown to everybody." },
      "",
    ),
    ...gateFlags,
  },
  examples: [
    { line: 'millrace signal stop main --reason "the runner is repaired"', does: "Admits nothing." },
    { line: "millrace signal stop --stage build", does: "Starts no builds of any queue." },
  ],
  run: async (asked) =>
    await send(asked, { kind: "close-gate", ...gateOf(asked), reason: asked.flags.reason }),
});

export const signalStart = defineCommand({
  name: "signal start",
  about: ["Lets a queue, or with --stage a stage, go on that was stopped."],
  operands: { shown: "[QUEUE]", min: 0, max: 1 },
  flags: gateFlags,
  examples: [{ line: "millrace signal start main", does: "Its requests are admitted again." }],
  run: async (asked) => await send(asked, { kind: "open-gate", ...gateOf(asked) }),
});

export const signalConfigure = defineCommand({
  name: "signal configure",
  about: [
    "Makes or changes a queue that does not stand in the controller's file. FILE holds what stands there under a queue's " +
      "name (docs/buildsignal.md); the controller checks it and says what is wrong.",
  ],
  operands: { shown: "QUEUE FILE", min: 2, max: 2 },
  flags: {
    version: valueFlag(
      {
        placeholder: "N",
        schema: z.coerce.number().int().min(0),
        description: "The version that was read, 0 for none.",
      },
      undefined as number | undefined,
    ),
    ...sendFlags,
  },
  examples: [{ line: "millrace signal configure release release.json", does: "Prints its new version." }],
  run: async (asked) => {
    const [queue = "", file = ""] = asked.operands;
    const { version } = asked.flags;
    const config = await readJson(file);
    return await send(asked, { kind: "configure", queue, config, ...(version !== undefined && { version }) });
  },
});

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const message = `${file} is not read: ${errorText(error)}`;
    throw new MillraceError({ remedy: "reject", code: "unreadable", message });
  }
}

export const signalRemove = defineCommand({
  name: "signal remove",
  about: ["Removes the configuration of a queue without requests under way; its requests and facts stay."],
  operands: { shown: "QUEUE", min: 1, max: 1 },
  flags: sendFlags,
  examples: [{ line: "millrace signal remove release", does: "Validates nothing of it any more." }],
  run: (asked) => send(asked, { kind: "unconfigure", queue: asked.operands[0] ?? "" }),
});
