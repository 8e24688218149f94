import "@millrace/base/module-shortcut";
import { processEnvironment } from "@millrace/base/config";
import manifest from "../package.json" with { type: "json" };
import { closest } from "./command-line/closest.ts";
import type { Command } from "./command-line/command.ts";
import { overviewHelp } from "./command-line/help.ts";
import { processTerminal } from "./command-line/terminal.ts";

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Loaded when it is run, so that `--help` does not wait for all of them. */
  load(): Promise<Command>;
}

const entries: readonly Entry[] = [
  {
    name: "up",
    summary: "Starts Millrace here and watches over it.",
    load: async () => (await import("./commands/up.ts")).up,
  },
  {
    name: "replay",
    summary: "Sends recorded builds to a server, as Bazel would.",
    load: async () => (await import("./commands/replay.ts")).replay,
  },
  {
    name: "export",
    summary: "Writes a stored build to a BEP file.",
    load: async () => (await import("./commands/export.ts")).exportBuild,
  },
  {
    name: "watch",
    summary: "Shows what happens to builds, live.",
    load: async () => (await import("./commands/watch.ts")).watch,
  },
  {
    name: "doctor",
    summary: "Looks at everything Millrace needs and says what to do.",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "verify",
    summary: "Checks that what is stored is whole.",
    load: async () => (await import("./commands/verify.ts")).verify,
  },
  {
    name: "migrate",
    summary: "Brings a database to the newest schema.",
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "keys",
    summary: "Makes, lists, rotates and revokes API keys.",
    load: async () => (await import("./commands/keys.ts")).keys,
  },
  {
    name: "signal",
    summary: "Operates the queues that validate commits.",
    load: async () => (await import("./commands/signal.ts")).signal,
  },
  {
    name: "mcp",
    summary: "Runs Bazel for agents, with its evidence on this disk. Needs no server.",
    load: async () => (await import("./commands/mcp.ts")).mcp,
  },
  {
    name: "bazel",
    summary: "Runs one Bazel command and prints what an agent would be told of it.",
    load: async () => (await import("./commands/bazel.ts")).bazel,
  },
];

const environment = processEnvironment();
const terminal = processTerminal(environment);
// Waiting for it would let a forgotten timer or socket keep a finished command alive.
process.exit(await dispatch(process.argv.slice(2)));

async function dispatch([name, ...args]: readonly string[]): Promise<number> {
  if (name === "help" && args.length > 0) return dispatch([args[0] ?? "", "--help"]);
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    terminal.print(overviewHelp(entries));
    return 0;
  }
  if (name === "--version") {
    terminal.print(`millrace ${manifest.version}`);
    return 0;
  }
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry !== undefined) return (await entry.load()).run(args, { terminal, environment });
  const near = closest(
    name,
    entries.map((candidate) => candidate.name),
  );
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  terminal.complain(`millrace: there is no command ${JSON.stringify(name)}.${hint}`);
  terminal.complain("See: millrace --help");
  return 2;
}
