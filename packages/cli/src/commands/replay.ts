import { basename, dirname, join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import { z } from "zod";
import { readServerFacts } from "../api-client.ts";
import { type BesTarget, connectBes } from "../bes/bes-client.ts";
import { recordedPace, withoutPause } from "../bes/pace.ts";
import { openRecordedStream, type RecordedNames } from "../bes/recorded-stream.ts";
import type { StreamNames } from "../bes/requests.ts";
import { Upload, type UploadReport } from "../bes/upload.ts";
import { defineCommand, type Invocation } from "../command-line/command.ts";
import { settingFlag, switchFlag, valueFlag } from "../command-line/flag.ts";
import { cliSettings } from "../settings.ts";
import { whereBackend, whereFlags, whereServer } from "../whereabouts.ts";

const max = "max";
const file = z.string().min(1);

const flags = {
  speed: valueFlag(
    {
      placeholder: "N|max",
      schema: z.union([z.literal(max), z.coerce.number().positive()], { error: "write a number or max" }),
      description: "How many times as fast as it was recorded; max: as fast as the server takes it.",
    },
    1,
  ),
  parallel: valueFlag(
    {
      placeholder: "N",
      schema: z.coerce.number().int().min(1).max(1000),
      description: "Files that are sent at the same time, each on a connection of its own.",
    },
    1,
  ),
  keepIds: switchFlag("Sends under the recorded ids and numbers instead of fresh ones."),
  backend: valueFlag(
    {
      placeholder: "URL",
      schema: z.string().min(1),
      description:
        "Where to: grpc://host:port, or grpcs://host:port for TLS. Without it: the one that runs here.",
    },
    "",
  ),
  apiKey: settingFlag(cliSettings.apiKey, { placeholder: "KEY" }),
  tlsCa: valueFlag(
    {
      placeholder: "FILE",
      schema: file,
      description: "PEM of the authority behind the server's certificate.",
    },
    "",
  ),
  tlsCertificate: valueFlag(
    {
      placeholder: "FILE",
      schema: file,
      description: "PEM of a client certificate, where one is asked for.",
    },
    "",
  ),
  tlsKey: valueFlag(
    { placeholder: "FILE", schema: file, description: "PEM of the client certificate's private key." },
    "",
  ),
  server: settingFlag(cliSettings.server, {
    placeholder: "URL",
    description: "Dashboard, for the links that are printed; beside --backend only.",
  }),
  dataDir: whereFlags.dataDir,
};

/** Sends recordings to a server as Bazel would. */
export const replay = defineCommand({
  name: "replay",
  about: [
    "Sends recorded builds to a Millrace, or to any other Build Event Service, exactly as Bazel does: to see one " +
      "on the dashboard, to try out a server, to bring builds from elsewhere.",
    "A FILE is what Bazel wrote for --build_event_binary_file or --build_event_json_file, or a recorded stream of " +
      "requests; gzipped or not. Each becomes a new invocation. A BEP file tells few times, so its events come in " +
      "bursts unless --speed max is given. The exit code is 0 only if every event was acknowledged.",
  ],
  operands: { shown: "FILE…", min: 1, max: Number.POSITIVE_INFINITY },
  flags,
  examples: [
    { line: "millrace replay events.bep --speed max", does: "One build, at once." },
    {
      line: "millrace replay recorded/*.bin.gz --parallel 20 --speed 10",
      does: "Many at the same time, ten times as fast as they were.",
    },
  ],
  run: async (invocation) => {
    const { operands, flags: asked } = invocation;
    const target = { ...asked, backend: asked.backend || whereBackend(asked) };
    const link = await linkTo(invocation);
    const waiting = [...operands];
    let failures = 0;
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (!(await replayFile(next, { invocation, target, link }))) failures += 1;
      }
    };
    await Promise.all(Array.from({ length: Math.min(asked.parallel, operands.length) }, work));
    if (operands.length > 1) {
      const sum = failures === 0 ? "all acknowledged" : `${failures} of them failed`;
      invocation.terminal.print(`${operands.length} recordings, ${sum}.`);
    }
    return failures === 0 ? 0 : 1;
  },
});

type Link = (invocationId: string) => string;

/** The address of a build's page, if we know the dashboard of where we send to; else its id. */
async function linkTo({ flags: asked }: Invocation<typeof flags>): Promise<Link> {
  if (asked.backend !== "" && asked.server === "") return (invocationId) => `invocation ${invocationId}`;
  const { resultsUrl } = await readServerFacts(whereServer(asked));
  return (invocationId) => `${resultsUrl}/${invocationId}`;
}

async function replayFile(
  path: string,
  to: { invocation: Invocation<typeof flags>; target: BesTarget; link: Link },
): Promise<boolean> {
  const { terminal, flags: asked } = to.invocation;
  const shown = join(basename(dirname(path)), basename(path));
  const client = connectBes(to.target, systemClock);
  const beganMs = systemClock.monotonic();
  try {
    const { names: recorded, events } = await openRecordedStream(path);
    const names = namesFor(recorded, asked.keepIds);
    const pace = asked.speed === max ? withoutPause : recordedPace(asked.speed, systemClock);
    const job = { client, names, events, renumbers: !asked.keepIds, pace, clock: systemClock };
    const report = await new Upload(job).run();
    const seconds = (systemClock.monotonic() - beganMs) / 1000;
    terminal.print(`${shown}: ${reportText(report, seconds)}  ${to.link(names.invocationId)}`);
    if (report.failure !== undefined) terminal.complain(`${shown}: ${report.failure}`);
    return report.failure === undefined;
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    terminal.complain(errorText(error));
    return false;
  } finally {
    client.close();
  }
}

function namesFor(recorded: RecordedNames, keepIds: boolean): StreamNames {
  const fresh = { ...recorded, buildId: systemRandom.uuid(), invocationId: systemRandom.uuid() };
  if (!keepIds) return fresh;
  return {
    projectId: recorded.projectId,
    buildId: recorded.buildId ?? fresh.buildId,
    invocationId: recorded.invocationId ?? fresh.invocationId,
  };
}

function reportText(report: UploadReport, seconds: number): string {
  const remarks = [
    ...(report.resumed > 0 ? [`resumed ${report.resumed} times`] : []),
    ...(report.hasEnd ? [] : ["the recording has no end"]),
  ];
  const counts = `${report.events} events, ${report.acked} acknowledged in ${seconds.toFixed(2)} s`;
  return [counts, ...remarks].join(", ");
}
