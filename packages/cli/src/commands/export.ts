import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { errorText, MillraceError } from "@millrace/base/errors";
import { defaultProject } from "@millrace/db/migrate";
import { z } from "zod";
import { getFromApi } from "../api-client.ts";
import { defineCommand } from "../command-line/command.ts";
import { settingFlag, switchFlag, valueFlag } from "../command-line/flag.ts";
import type { Terminal } from "../command-line/terminal.ts";
import { cliSettings } from "../settings.ts";
import { whereFlags, whereServer } from "../whereabouts.ts";

const toStdout = "-";

/** Writes a stored build to a file. */
export const exportBuild = defineCommand({
  name: "export",
  about: [
    "Writes a build to a file: the one that Bazel would have written for --build_event_binary_file, from what is " +
      "stored, byte for byte but for secrets that were masked before anything was stored. Every tool that reads " +
      "such files reads this one; `millrace replay` sends it again.",
    "ID is the invocation id: the last part of the address of the build's page.",
  ],
  operands: { shown: "ID", min: 1, max: 1 },
  flags: {
    bep: switchFlag("As a BEP file. Must be given: other forms may come."),
    output: valueFlag(
      {
        placeholder: "FILE",
        short: "o",
        schema: z.string().min(1),
        description: "Where to; - is standard output. [default ID.bep]",
      },
      "",
    ),
    attempt: valueFlag(
      {
        placeholder: "N",
        schema: z.coerce.number().int().min(1),
        description: "Which attempt, where the invocation was sent several times. [default the latest]",
      },
      0,
    ),
    project: valueFlag(
      { placeholder: "P", schema: z.string().min(1), description: "The project it belongs to." },
      defaultProject,
    ),
    server: whereFlags.server,
    apiKey: settingFlag(cliSettings.apiKey, { placeholder: "KEY" }),
    dataDir: whereFlags.dataDir,
  },
  examples: [
    {
      line: "millrace export 3f1c2a64-9f0d-4f6f-8d0e-0a4b6f3c2d11 --bep",
      does: "Writes 3f1c2a64-….bep here.",
    },
    { line: "millrace export ID --bep -o - | gzip > build.bep.gz", does: "Compressed on the way." },
  ],
  run: async ({ flags, operands, terminal }) => {
    const [id = ""] = operands;
    if (!flags.bep) {
      terminal.complain("millrace export: say in which form: --bep.");
      return 2;
    }
    const [project, name] = [flags.project, id].map(encodeURIComponent);
    const query = flags.attempt === 0 ? "" : `?attempt=${flags.attempt}`;
    const path = `/projects/${project}/invocations/${name}/bep${query}`;
    const response = await getFromApi(whereServer(flags), { path, apiKey: flags.apiKey });
    const body = response.body ?? new ReadableStream<Uint8Array>();
    if (flags.output === toStdout) {
      await copyTo(body, (bytes) => terminal.write(bytes));
      return 0;
    }
    return writeFile(body, flags.output === "" ? `${name}.bep` : flags.output, terminal);
  },
});

async function writeFile(
  body: ReadableStream<Uint8Array>,
  file: string,
  terminal: Terminal,
): Promise<number> {
  const draft = `${file}.part`;
  try {
    const handle = await open(draft, "w");
    let bytes = 0;
    try {
      await copyTo(body, async (piece) => {
        await handle.writeFile(piece);
        bytes += piece.length;
      });
    } finally {
      await handle.close();
    }
    // The file appears whole or not at all.
    await rename(draft, file);
    terminal.print(`${resolve(file)}: ${bytes} bytes`);
    return 0;
  } catch (error) {
    await rm(draft, { force: true });
    throw new MillraceError({
      remedy: "reject",
      code: "export",
      message: `${file} was not written: ${errorText(error)}`,
    });
  }
}

async function copyTo(
  body: ReadableStream<Uint8Array>,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  for await (const piece of body) await write(piece);
}
