import { booleanText, setting } from "@millrace/base/config";
import { failPointText } from "@millrace/base/fail-points";
import { blobSettings } from "@millrace/blobs/settings";
import { z } from "zod";
import { failPointNames, type WriterFailPoint } from "./failpoints.ts";

const MiB = 1024 * 1024;

const count = z.coerce.number().int().min(1);
const bytes = z.coerce.number().int().min(1);

/** Settings of a writer process. */
export const writerSettings = {
  ...blobSettings,
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
  databasePrepare: setting(
    {
      name: "DATABASE_PREPARE",
      schema: booleanText,
      description: "Named prepared statements; false behind a transaction-mode pooler that has none.",
    },
    true,
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
  openMode: setting(
    {
      name: "OPEN_MODE",
      schema: booleanText,
      description: "No API key is needed; what comes without one lands in the project default.",
    },
    true,
  ),
  connections: setting(
    {
      name: "WRITER_CONNECTIONS",
      schema: count.max(64),
      description: "Transactions that a writer has on their way at once, each on its own connection.",
    },
    2,
  ),
  inboxBytesMax: setting(
    {
      name: "INBOX_BYTES_MAX",
      schema: bytes,
      description: "Bytes of batches that a writer holds; more are not answered and come again.",
    },
    256 * MiB,
  ),
  groupBytesMax: setting(
    { name: "GROUP_BYTES_MAX", schema: bytes, description: "Bytes of batches in one transaction." },
    16 * MiB,
  ),
  groupBatchesMax: setting(
    { name: "GROUP_BATCHES_MAX", schema: count, description: "Batches in one transaction." },
    500,
  ),
  resumeWithHole: setting(
    {
      name: "RESUME_WITH_HOLE",
      schema: booleanText,
      description:
        "A stream whose earlier events storage has lost goes on behind a recorded hole instead of being refused.",
    },
    false,
  ),
  compactAfterSeconds: setting(
    {
      name: "COMPACT_AFTER_SECONDS",
      schema: z.coerce.number().int().min(0),
      description: "How long after its end, in seconds, a build is put into an archive in the blob store.",
    },
    60,
  ),
  opsHost: setting(
    {
      name: "WRITER_OPS_HOST",
      schema: z.string().min(1),
      description: "Address of the writer's /healthz and /metrics.",
    },
    "127.0.0.1",
  ),
  opsPort: setting(
    {
      name: "WRITER_OPS_PORT",
      schema: z.coerce.number().int().min(0).max(65_535),
      description: "Port of the writer's /healthz and /metrics; 0: none.",
    },
    0,
  ),
  failPoint: setting<WriterFailPoint | undefined>(
    {
      name: "FAIL_POINT",
      schema: failPointText(failPointNames),
      description: "For tests: where the writer kills itself, and at which visit.",
    },
    undefined,
  ),
} as const;
