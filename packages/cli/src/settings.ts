import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ingestSettings } from "@millrace/actors/settings";
import { apiSettings } from "@millrace/api/settings";
import { setting } from "@millrace/base/config";
import { buildsignalSettings } from "@millrace/buildsignal/settings";
import { writerSettings } from "@millrace/writer/settings";
import { z } from "zod";

const checkout = resolve(import.meta.dirname, "../../..");

/** A path as a person writes it. */
const path = z
  .string()
  .min(1)
  .transform((text) => resolve(text.startsWith("~/") ? join(homedir(), text.slice(2)) : text));

const port = z.coerce.number().int().min(0).max(65_535);

/** Settings of the `millrace` command itself. */
export const cliSettings = {
  dataDir: setting(
    {
      name: "DATA_DIR",
      schema: path,
      description: "Where this Millrace keeps everything: database, blobs, streams of NATS.",
    },
    join(checkout, ".millrace", "data"),
  ),
  host: setting(
    {
      name: "HOST",
      schema: z.string().min(1),
      description: "Address on which Bazel and browsers are served; 0.0.0.0 is all of this machine's.",
    },
    "127.0.0.1",
  ),
  writers: setting(
    {
      name: "WRITERS",
      schema: z.coerce.number().int().min(1).max(64),
      description: "Writer processes; they share the invocations and take over from each other.",
    },
    2,
  ),
  postgresPort: setting(
    {
      name: "POSTGRES_PORT",
      schema: port,
      description: "Port of the embedded PostgreSQL on 127.0.0.1; 0: any free one.",
    },
    0,
  ),
  natsPort: setting(
    {
      name: "NATS_PORT",
      schema: port,
      description: "Port of our own NATS server on 127.0.0.1; 0: any free one.",
    },
    0,
  ),
  /** Empty: the embedded one, or that of the Millrace that runs on the data directory. */
  databaseUrl: {
    ...writerSettings.databaseUrl,
    fallback: "",
    description: "PostgreSQL that runs already: postgres://user:password@host:port/database.",
  },
  /** Empty as above. */
  natsUrl: {
    ...writerSettings.natsUrl,
    fallback: "",
    description: "NATS that runs already: nats://host:port, several separated by commas.",
  },
  /** Empty: that of the Millrace that runs on the data directory. */
  server: setting(
    {
      name: "SERVER",
      schema: z.url({ protocol: /^https?$/, error: "write http://host:port" }),
      description: "Dashboard and API of a Millrace, such as http://localhost:1984.",
    },
    "",
  ),
  apiKey: setting(
    {
      name: "API_KEY",
      schema: z.string(),
      description: "API key, for a Millrace that asks for one.",
      secret: true,
    },
    "",
  ),
  /** Empty: `blobs` in the data directory. */
  blobDir: {
    ...ingestSettings.blobDirectory,
    fallback: "",
    schema: path,
    description: "Directory for large blobs (default: blobs in the data directory).",
  },
};

/** Everything that can be set, by process: a name in the environment that is in none of them is misspelt. */
export const allSettings = {
  cli: cliSettings,
  ingest: ingestSettings,
  writer: writerSettings,
  api: apiSettings,
  buildsignal: buildsignalSettings,
};
