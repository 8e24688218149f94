import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkRelations, ingestSettings } from "@millrace/actors/settings";
import { apiSettings } from "@millrace/api/settings";
import { systemClock } from "@millrace/base/clock";
import { ConfigError, readSettings, unknownNames } from "@millrace/base/config";
import { blobSettings } from "@millrace/blobs/settings";
import { writerSettings } from "@millrace/writer/settings";
import { defineCommand, type Invocation } from "../command-line/command.ts";
import { settingFlag, switchFlag } from "../command-line/flag.ts";
import { allSettings, cliSettings } from "../settings.ts";
import type { UpPlan } from "../up/plan.ts";
import { portOrAny } from "../up/ports.ts";
import { runUp } from "../up/run-up.ts";

const flags = {
  dataDir: settingFlag(cliSettings.dataDir, { placeholder: "DIR" }),
  grpcPort: settingFlag(ingestSettings.grpcPort, { placeholder: "N" }),
  httpPort: settingFlag(apiSettings.httpPort, {
    placeholder: "N",
    description: "Port of the dashboard and the API; 0: any free one.",
  }),
  host: settingFlag(cliSettings.host, { placeholder: "HOST" }),
  json: switchFlag("Prints one line of JSON with all addresses when ready, and the log on standard error."),
  noRestart: switchFlag("Leaves a process that dies dead."),
  writers: settingFlag(cliSettings.writers, { placeholder: "N" }),
  threads: settingFlag(ingestSettings.workerThreads, { placeholder: "N" }),
  databaseUrl: settingFlag(cliSettings.databaseUrl, {
    placeholder: "URL",
    description: `${cliSettings.databaseUrl.description} Without it Millrace starts one of its own.`,
  }),
  natsUrl: settingFlag(cliSettings.natsUrl, {
    placeholder: "URL",
    description: `${cliSettings.natsUrl.description} Without it Millrace starts one of its own.`,
  }),
  blobDir: settingFlag(cliSettings.blobDir, { placeholder: "DIR" }),
  s3Endpoint: settingFlag(blobSettings.s3Endpoint, { placeholder: "URL" }),
  s3Bucket: settingFlag(blobSettings.s3Bucket, { placeholder: "NAME" }),
  postgresPort: settingFlag(cliSettings.postgresPort, { placeholder: "N" }),
  natsPort: settingFlag(cliSettings.natsPort, { placeholder: "N" }),
  logLevel: settingFlag(ingestSettings.logLevel, { placeholder: "LEVEL" }),
};

/** Starts everything and stays in front. */
export const up = defineCommand({
  name: "up",
  about: [
    "Starts Millrace on this machine and stays in front: a PostgreSQL and a NATS server of its own, the writers, " +
      "the service that Bazel talks to, and the dashboard. `npm start` runs this.",
    "It watches over them: a process that dies is started again, within a second at first. Ctrl-C finishes what " +
      "is in hand and stops them all; pressed twice, it ends them at once. All data stays in the data directory.",
  ],
  flags,
  examples: [
    { line: "millrace up", does: "Bazel on port 1985, dashboard on http://localhost:1984." },
    {
      line: "millrace up --data-dir /tmp/try --grpc-port 0 --http-port 0 --json",
      does: "A second one beside it on free ports, for a script that reads where.",
    },
    {
      line: "millrace up --database-url postgres://me:secret@db/millrace",
      does: "With a PostgreSQL that runs elsewhere; it is migrated if need be.",
    },
    {
      line: "MILLRACE_S3_ACCESS_KEY=… MILLRACE_S3_SECRET_KEY=… millrace up --s3-endpoint https://s3.example.com",
      does: "With the bucket millrace of an S3 service instead of a directory for blobs.",
    },
  ],
  run: async (invocation) => {
    checkEnvironment(invocation.environment);
    return runUp({
      plan: await planOf(invocation),
      terminal: invocation.terminal,
      json: invocation.flags.json,
      hasDashboard: existsSync(join(uiDirectory, "index.html")),
      clock: systemClock,
    });
  },
});

const uiDirectory = resolve(import.meta.dirname, "../../../ui/dist");

/** Names what is misspelt or not valid here, before the process concerned would say it. */
function checkEnvironment(environment: Invocation<typeof flags>["environment"]): void {
  const unknown = unknownNames(Object.values(allSettings), environment);
  if (unknown.length > 0) throw new ConfigError(unknown.map((name) => `there is no setting ${name}`));
  readSettings(writerSettings, environment);
  readSettings(apiSettings, environment);
  checkRelations(readSettings(ingestSettings, environment));
}

async function planOf(invocation: Invocation<typeof flags>): Promise<UpPlan> {
  const { flags: asked, given, environment } = invocation;
  const ingest = readSettings(ingestSettings, environment);
  const api = readSettings(apiSettings, environment);
  const isSet = (name: string): boolean => Boolean(environment[name]);
  const hostOf = (own: string, name: string): string =>
    isSet(name) && !given.has("host") ? own : asked.host;
  const opsPort = isSet(ingestSettings.opsPort.environmentName)
    ? ingest.opsPort
    : await portOrAny({ host: ingest.opsHost, port: asked.grpcPort === 0 ? 0 : ingest.opsPort });
  return {
    dataDir: asked.dataDir,
    grpcHost: hostOf(ingest.grpcHost, ingestSettings.grpcHost.environmentName),
    httpHost: hostOf(api.httpHost, apiSettings.httpHost.environmentName),
    grpcPort: asked.grpcPort,
    httpPort: asked.httpPort,
    opsPort,
    postgresPort: asked.postgresPort,
    natsPort: asked.natsPort,
    databaseUrl: asked.databaseUrl,
    natsUrl: asked.natsUrl,
    blobDirectory: asked.blobDir === "" ? join(asked.dataDir, "blobs") : asked.blobDir,
    writers: asked.writers,
    threads: asked.threads,
    logLevel: asked.logLevel,
    usesTls: ingest.tlsCertificate !== "",
    restarts: !asked.noRestart,
    environment: {
      ...environment,
      [blobSettings.s3Endpoint.environmentName]: asked.s3Endpoint,
      [blobSettings.s3Bucket.environmentName]: asked.s3Bucket,
    },
  };
}
