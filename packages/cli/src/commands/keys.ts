import { errorText, MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import { createKey, ensureProject, listKeys, revokeKey, rotateKey } from "@millrace/db/api-keys";
import { connect, type Database } from "@millrace/db/connect";
import { z } from "zod";
import { closest } from "../command-line/closest.ts";
import { type Command, defineCommand } from "../command-line/command.ts";
import { switchFlag, valueFlag } from "../command-line/flag.ts";
import type { Terminal } from "../command-line/terminal.ts";
import { keyRow, keyTable } from "../keys/key-table.ts";
import { defaultScopes, lifetime, projectSlug, scopeList } from "../keys/key-values.ts";
import { textTable } from "../signal/text-table.ts";
import { type Asked, whereDatabase, whereFlags } from "../whereabouts.ts";

const where = { databaseUrl: whereFlags.databaseUrl, dataDir: whereFlags.dataDir };
const keyOperand = { shown: "KEY-ID", min: 1, max: 1 };

const create = defineCommand({
  name: "keys create",
  about: [
    "Makes an API key for a project and prints it, this once: only its SHA-256 is stored.",
    "ingest: publish builds. upload: write to the cache endpoint. read: use the API. admin: administer the project.",
  ],
  flags: {
    project: valueFlag({ placeholder: "P", schema: projectSlug, description: "Its project." }, "default"),
    newProject: switchFlag("Makes the project if it is not there."),
    scopes: valueFlag(
      { placeholder: "LIST", schema: scopeList, description: "What it may do, with commas between." },
      defaultScopes,
    ),
    name: valueFlag({ placeholder: "TEXT", schema: z.string().max(200), description: "What it is for." }, ""),
    expires: valueFlag(
      {
        placeholder: "TIME",
        schema: lifetime,
        description: "How long it is good: 90d, 12h; left out: for ever.",
      },
      undefined,
    ),
    ...where,
  },
  examples: [
    { line: 'millrace keys create --scopes ingest --name "CI" --expires 90d', does: "For Bazel in CI." },
  ],
  run: async ({ flags, terminal }) =>
    onDatabase(flags, async ({ orm }) => {
      if (flags.newProject) await ensureProject(orm, flags.project);
      const { project: projectId, name, scopes, expires: expiresInSeconds } = flags;
      const key = await createKey(orm, { projectId, name, scopes, expiresInSeconds }, systemRandom);
      if (key === undefined) {
        throw refused("no-such-project", `There is no project ${projectId}; --new-project makes it.`);
      }
      showOnce(terminal, key.text);
      return 0;
    }),
});

const list = defineCommand({
  name: "keys list",
  about: ["Lists API keys, those that ended too. When one was last used may be ten minutes late."],
  flags: {
    project: valueFlag({ placeholder: "P", schema: projectSlug, description: "One project only." }, ""),
    json: switchFlag("Prints one object a line."),
    ...where,
  },
  examples: [{ line: "millrace keys list --project default", does: "Who may do what there." }],
  run: async ({ flags, terminal }) =>
    onDatabase(flags, async ({ orm }) => {
      const keys = await listKeys(orm, flags.project === "" ? undefined : flags.project);
      const lines = flags.json ? keys.map((key) => JSON.stringify(keyRow(key))) : keyTable(keys);
      for (const line of lines) terminal.print(line);
      return 0;
    }),
});

const rotate = defineCommand({
  name: "keys rotate",
  about: [
    "Makes a key that may do what another may, and prints it, this once. The old one goes on for the time of grace, in " +
      "which its users take over the new one; it is then over. A key is rotated once.",
  ],
  operands: keyOperand,
  flags: {
    grace: valueFlag(
      {
        placeholder: "TIME",
        schema: lifetime,
        description: "How long the old key goes on, such as 7d, 1h or 0s.",
      },
      86_400,
    ),
    ...where,
  },
  examples: [
    { line: "millrace keys rotate 3fa1c09b72de --grace 7d", does: "A week to change it everywhere." },
  ],
  run: async ({ flags, operands: [id = ""], terminal }) =>
    onDatabase(flags, async ({ orm }) => {
      const change = await rotateKey(orm, { id, graceSeconds: flags.grace ?? 0 }, systemRandom);
      if (change.kind === "no-such-key") {
        throw refused(
          "no-such-key",
          `No key ${id} can be rotated: see which are valid with millrace keys list.`,
        );
      }
      showOnce(terminal, change.value.text);
      return 0;
    }),
});

const revoke = defineCommand({
  name: "keys revoke",
  about: ["Ends a key. Nodes that know it go on taking it for up to 10 s."],
  operands: keyOperand,
  flags: where,
  examples: [{ line: "millrace keys revoke 3fa1c09b72de", does: "For one that got into wrong hands." }],
  run: async ({ flags, operands: [id = ""], terminal }) =>
    onDatabase(flags, async ({ orm }) => {
      const change = await revokeKey(orm, id);
      if (change.kind === "no-such-key")
        throw refused("no-such-key", `There is no key ${id}: see millrace keys list.`);
      terminal.print(`The key ${id} of project ${change.value} is revoked.`);
      return 0;
    }),
});

const actions: readonly { readonly name: string; readonly summary: string; readonly command: Command }[] = [
  { name: "create", summary: "Makes a key and prints it, this once.", command: create },
  { name: "list", summary: "Lists keys.", command: list },
  { name: "rotate", summary: "Replaces a key by a new one, with a time of grace.", command: rotate },
  { name: "revoke", summary: "Ends a key.", command: revoke },
];

/** Looks after API keys, straight in the database: it works while the API does not. */
export const keys: Command = {
  run: async ([name, ...args], world) => {
    const { terminal } = world;
    if (name === undefined || name === "--help" || name === "-h") {
      const rows = actions.map(({ name, summary }) => [`  ${name}`, summary]);
      terminal.print(`Usage: millrace keys ACTION [flags]\n\nActions:`);
      for (const row of textTable(["", ""], rows).slice(1)) terminal.print(row);
      terminal.print("\nMore about one of them:  millrace keys ACTION --help");
      return 0;
    }
    const action = actions.find((one) => one.name === name);
    if (action !== undefined) return await action.command.run(args, world);
    const near = closest(
      name,
      actions.map((one) => one.name),
    );
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    terminal.complain(`millrace keys: there is no action ${JSON.stringify(name)}.${hint}`);
    terminal.complain("See: millrace keys --help");
    return 2;
  },
};

/** The key alone goes to standard output, so that `$(millrace keys create)` is the key. */
function showOnce(terminal: Terminal, key: string): void {
  terminal.complain("This is the key; it is not shown again. For Bazel: --bes_header=x-api-key=KEY");
  terminal.print(key);
}

async function onDatabase(asked: Asked, run: (database: Database) => Promise<number>): Promise<number> {
  const database = connect({ url: whereDatabase(asked), max: 1, name: "millrace-keys" });
  try {
    return await run(database);
  } catch (cause) {
    if (cause instanceof MillraceError) throw cause;
    // Drizzle's own message is the whole statement with its values.
    const why = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
    const message = `The database does not do it: ${errorText(why)}`;
    throw new MillraceError({ remedy: "retry", code: "database", message });
  } finally {
    await database.close();
  }
}

function refused(code: string, message: string): MillraceError {
  return new MillraceError({ remedy: "reject", code, message });
}
