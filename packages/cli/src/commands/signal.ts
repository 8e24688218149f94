import { closest } from "../command-line/closest.ts";
import type { Command } from "../command-line/command.ts";
import { textTable } from "../signal/text-table.ts";
import {
  signalCancel,
  signalConfigure,
  signalDiscard,
  signalIngest,
  signalRedrive,
  signalRemove,
  signalStart,
  signalStop,
} from "./signal-changes.ts";
import { signalLetters, signalQueues, signalRequests, signalShow } from "./signal-reads.ts";

const actions: readonly { readonly name: string; readonly summary: string; readonly command: Command }[] = [
  { name: "queues", summary: "Lists queues.", command: signalQueues },
  { name: "requests", summary: "Lists the requests of a queue.", command: signalRequests },
  { name: "show", summary: "Shows a request with its history.", command: signalShow },
  { name: "ingest", summary: "Announces a commit.", command: signalIngest },
  { name: "cancel", summary: "Cancels a request.", command: signalCancel },
  { name: "letters", summary: "Lists dead letters.", command: signalLetters },
  { name: "redrive", summary: "Has dead letters handled again.", command: signalRedrive },
  { name: "discard", summary: "Sets dead letters aside for good.", command: signalDiscard },
  { name: "stop", summary: "Keeps a queue, or a stage, back.", command: signalStop },
  { name: "start", summary: "Lets it go on.", command: signalStart },
  { name: "configure", summary: "Makes or changes a queue.", command: signalConfigure },
  { name: "remove", summary: "Removes a queue's configuration.", command: signalRemove },
];

/** Operates the build-signal controller: reads over the API, changes by its commands on NATS. */
export const signal: Command = {
  run: async ([name, ...args], world) => {
    const { terminal } = world;
    if (name === undefined || name === "--help" || name === "-h") {
      terminal.print(overview());
      return 0;
    }
    const action = actions.find((one) => one.name === name);
    if (action !== undefined) return await action.command.run(args, world);
    const near = closest(
      name,
      actions.map((one) => one.name),
    );
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    terminal.complain(`millrace signal: there is no action ${JSON.stringify(name)}.${hint}`);
    terminal.complain("See: millrace signal --help");
    return 2;
  },
};

function overview(): string {
  const rows = actions.map(({ name, summary }) => [`  ${name}`, summary]);
  return [
    "Usage: millrace signal ACTION [flags]",
    "Operates the build-signal controller, which validates the commits of queues (docs/buildsignal.md).",
    ["Actions:", ...textTable(["", ""], rows).slice(1)].join("\n"),
    "More about one of them:  millrace signal ACTION --help",
  ].join("\n\n");
}
