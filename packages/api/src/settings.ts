import { booleanText, type Settings, setting } from "@millrace/base/config";
import { blobSettings } from "@millrace/blobs/settings";
import { z } from "zod";

const port = z.coerce.number().int().min(0).max(65_535);

/** Everything that can be set in the API process. */
export const apiSettings = {
  httpPort: setting(
    { name: "HTTP_PORT", schema: port, description: "port of the dashboard and the API; 0 = any free one" },
    1984,
  ),
  httpHost: setting(
    { name: "HTTP_HOST", schema: z.string(), description: "address the dashboard and the API listen on" },
    "127.0.0.1",
  ),
  databaseUrl: setting(
    { name: "DATABASE_URL", schema: z.string(), description: "PostgreSQL", secret: true },
    "postgres://millrace@127.0.0.1:5432/millrace",
  ),
  databaseConnections: setting(
    {
      name: "API_DATABASE_CONNECTIONS",
      schema: z.coerce.number().int().min(1).max(200),
      description: "most connections to PostgreSQL of one API process",
    },
    10,
  ),
  natsUrl: setting(
    { name: "NATS_URL", schema: z.string(), description: "NATS servers, comma-separated, or one DNS name" },
    "nats://127.0.0.1:4222",
  ),
  ...blobSettings,
  uiDirectory: setting(
    { name: "UI_DIRECTORY", schema: z.string(), description: "the built dashboard; empty = none is served" },
    "",
  ),
  publicGrpcUrl: setting(
    {
      name: "PUBLIC_GRPC_URL",
      schema: z.string(),
      description: "what people put after --bes_backend=; shown on the dashboard",
    },
    "grpc://localhost:1985",
  ),
  publicHttpUrl: setting(
    {
      name: "PUBLIC_HTTP_URL",
      schema: z.string(),
      description: "origin of the dashboard as people reach it; empty = that of the request",
    },
    "",
  ),
  openMode: setting(
    {
      name: "OPEN_MODE",
      schema: booleanText,
      description:
        "whoever reaches the API reads every project; else it wants an API key with the scope read",
    },
    true,
  ),
  adminToken: setting(
    {
      name: "ADMIN_TOKEN",
      schema: z.string(),
      description: "who sends it may change queues over the API; empty = nobody may",
      secret: true,
    },
    "",
  ),
  logLevel: setting(
    {
      name: "LOG_LEVEL",
      schema: z.enum(["debug", "info", "warn", "error"]),
      description: "least severe log line that is written",
    },
    "info",
  ),
} as const;

export type ApiSettings = Settings<typeof apiSettings>;
