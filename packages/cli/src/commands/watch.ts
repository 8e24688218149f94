import { systemClock } from "@millrace/base/clock";
import { latch } from "@millrace/base/latch";
import {
  factChannel,
  factSubjects,
  factSubjectsOfProject,
  liveChannel,
  liveSubjects,
  liveSubjectsOfProject,
} from "@millrace/proto/channels";
import { projectPattern } from "@millrace/proto/tokens";
import { z } from "zod";
import { defineCommand } from "../command-line/command.ts";
import { switchFlag, valueFlag } from "../command-line/flag.ts";
import { connectOrFail, logTo } from "../nats.ts";
import { jsonLine, type LiveNews, readableLine } from "../watch/live-lines.ts";
import { whereFlags, whereNats } from "../whereabouts.ts";

/** Shows what happens to builds while it happens. */
export const watch = defineCommand({
  name: "watch",
  about: [
    "Prints a line for whatever happens to a build, as soon as it is stored: that it STARTED, FINISHED, was RESUMED " +
      "or DISCONNECTED, and how far it has come in between. Runs until Ctrl-C.",
    "It listens to the same NATS subjects as other programs may: facts as CloudEvents, and digests of running " +
      "builds. What happened before it was started, it does not show.",
  ],
  flags: {
    project: valueFlag(
      {
        placeholder: "P",
        schema: z.string().regex(projectPattern, "lower-case letters, digits and hyphens"),
        description: "One project only.",
      },
      "",
    ),
    json: switchFlag('Prints JSON, one object a line: {"fact": …} or {"digest": …}.'),
    natsUrl: whereFlags.natsUrl,
    dataDir: whereFlags.dataDir,
  },
  examples: [{ line: "millrace watch --json | jq .fact.type", does: "What programs hear." }],
  run: async ({ flags, terminal }) => {
    const bus = await connectOrFail(whereNats(flags), { log: logTo(terminal), clock: systemClock });
    const show = (news: LiveNews): void => {
      const line = flags.json ? jsonLine(news) : readableLine(news, systemClock.now());
      if (line !== undefined) terminal.print(line);
    };
    const { project } = flags;
    bus.subscribe(factChannel, project === "" ? factSubjects : factSubjectsOfProject(project), (fact) =>
      show({ kind: "fact", fact }),
    );
    bus.subscribe(liveChannel, project === "" ? liveSubjects : liveSubjectsOfProject(project), (digest) =>
      show({ kind: "digest", digest }),
    );
    if (!flags.json) terminal.complain("Watching. Ctrl-C ends it.");
    const told = latch();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => told.open());
    await told.promise;
    await bus.close();
    return 0;
  },
});
