import { setting } from "@millrace/base/config";
import { failPointText } from "@millrace/base/fail-points";
import { z } from "zod";
import { failPointNames, type SignalFailPoint } from "./failpoints.ts";

/** Settings of a build-signal controller process. */
export const buildsignalSettings = {
  databaseUrl: setting(
    {
      name: "DATABASE_URL",
      schema: z.string().min(1),
      description:
        "PostgreSQL: postgres://user:password@host:port/database, or ?host=DIRECTORY for a socket.",
      secret: true,
    },
    "postgres://postgres@127.0.0.1:5432/millrace",
  ),
  natsUrl: setting(
    {
      name: "NATS_URL",
      schema: z.string().min(1),
      description: "NATS servers, comma-separated, or one DNS name.",
    },
    "nats://127.0.0.1:4222",
  ),
  logLevel: setting(
    {
      name: "LOG_LEVEL",
      schema: z.enum(["debug", "info", "warn", "error"]),
      description: "The least serious lines that are logged: debug, info, warn or error.",
    },
    "info",
  ),
  configFile: setting(
    {
      name: "SIGNAL_CONFIG",
      schema: z.string(),
      description: "JSON file with the queues that are validated; empty: none.",
    },
    "",
  ),
  secretsFile: setting(
    {
      name: "SIGNAL_SECRETS",
      schema: z.string(),
      description: "JSON file with the credentials that queues name, { name: text }; empty: none.",
    },
    "",
  ),
  connections: setting(
    {
      name: "SIGNAL_CONNECTIONS",
      schema: z.coerce.number().int().min(1).max(64),
      description: "Transactions of stages that are on their way at once, each on its own connection.",
    },
    3,
  ),
  keepLettersDays: setting(
    {
      name: "SIGNAL_KEEP_LETTERS_DAYS",
      schema: z.coerce.number().int().min(1).max(36_500),
      description: "Settled dead letters are kept for so many days; open ones stay.",
    },
    90,
  ),
  keepLogDays: setting(
    {
      name: "SIGNAL_KEEP_LOG_DAYS",
      schema: z.coerce.number().int().min(1).max(36_500),
      description: "The log of requests that have ended is kept for so many days.",
    },
    180,
  ),
  opsHost: setting(
    {
      name: "SIGNAL_OPS_HOST",
      schema: z.string().min(1),
      description: "Address of the controller's /healthz and /metrics.",
    },
    "127.0.0.1",
  ),
  opsPort: setting(
    {
      name: "SIGNAL_OPS_PORT",
      schema: z.coerce.number().int().min(0).max(65_535),
      description: "Port of the controller's /healthz and /metrics; 0: none.",
    },
    0,
  ),
  failPoint: setting<SignalFailPoint | undefined>(
    {
      name: "SIGNAL_FAIL_POINT",
      schema: failPointText(failPointNames),
      description: "For tests: where the controller kills itself, and at which visit.",
    },
    undefined,
  ),
} as const;
