import { availableParallelism } from "node:os";
import { booleanText, ConfigError, type Settings, setting } from "@millrace/base/config";
import { failPointText } from "@millrace/base/fail-points";
import { blobSettings } from "@millrace/blobs/settings";
import { z } from "zod";
import { failPointNames, type IngestFailPoint } from "./fail-point-names.ts";
import { eventOverheadBytes } from "./thread-messages.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

const port = z.coerce.number().int().min(0).max(65_535);
const bytes = z.coerce.number().int().min(0);
const positiveBytes = z.coerce.number().int().min(1);
const count = z.coerce.number().int().min(1);
const milliseconds = z.coerce.number().int().min(1);
const path = z.string();

/** Room in a NATS message beside the compressed batch. */
const messageSlackBytes = 64 * KiB;

/** A gRPC message may be this much longer than the largest event in it. */
export const requestSlackBytes = 64 * KiB;

/** Settings of the ingest process: front door and worker threads. */
export const ingestSettings = {
  grpcHost: setting(
    {
      name: "GRPC_HOST",
      schema: z.string().min(1),
      description: "Address on which Bazel is served. Without API keys keep it on the loopback interface.",
    },
    "127.0.0.1",
  ),
  grpcPort: setting(
    { name: "GRPC_PORT", schema: port, description: "Port on which Bazel is served; 0: any free one." },
    1985,
  ),
  opsHost: setting(
    {
      name: "OPS_HOST",
      schema: z.string().min(1),
      description: "Address of the ingest process's /healthz, /readyz and /metrics.",
    },
    "127.0.0.1",
  ),
  opsPort: setting(
    {
      name: "OPS_PORT",
      schema: port,
      description: "Port of the ingest process's /healthz, /readyz and /metrics; 0: any free one.",
    },
    1986,
  ),
  natsUrl: setting(
    {
      name: "NATS_URL",
      schema: z.string().min(1),
      description: "NATS servers, comma-separated, or one DNS name.",
    },
    "nats://127.0.0.1:4222",
  ),
  ...blobSettings,
  logLevel: setting(
    {
      name: "LOG_LEVEL",
      schema: z.enum(["debug", "info", "warn", "error"]),
      description: "The least serious lines that are logged: debug, info, warn or error.",
    },
    "info",
  ),
  workerThreads: setting(
    {
      name: "WORKER_THREADS",
      schema: count.max(256),
      description: "Worker threads of the ingest process; every invocation stays on one.",
    },
    availableParallelism() <= 2 ? 1 : Math.floor(availableParallelism() / 2),
  ),
  tlsCertificate: setting(
    {
      name: "TLS_CERTIFICATE",
      schema: path,
      description: "PEM file of the gRPC server's certificate chain; empty: no TLS.",
    },
    "",
  ),
  tlsKey: setting(
    { name: "TLS_KEY", schema: path, description: "PEM file of the certificate's private key." },
    "",
  ),
  tlsClientCa: setting(
    {
      name: "TLS_CLIENT_CA",
      schema: path,
      description: "PEM file of the authority that signs clients' certificates; when set, clients need one.",
    },
    "",
  ),
  messageBytesMax: setting(
    { name: "MESSAGE_BYTES_MAX", schema: positiveBytes, description: "Largest event, in bytes." },
    100 * MiB,
  ),
  streamBytesMax: setting(
    {
      name: "STREAM_BYTES_MAX",
      schema: positiveBytes,
      description: "Bytes of a stream's events in memory; one larger event alone is let in.",
    },
    4 * MiB,
  ),
  sharedBytesMax: setting(
    {
      name: "SHARED_BYTES_MAX",
      schema: positiveBytes,
      description:
        "Bytes that all streams with events in memory share evenly, at least 64 KiB each; few streams have STREAM_BYTES_MAX each.",
    },
    64 * MiB,
  ),
  projectBytesMax: setting(
    {
      name: "PROJECT_BYTES_MAX",
      schema: positiveBytes,
      description: "Bytes of a project's events in memory, per ingest process.",
    },
    384 * MiB,
  ),
  processBytesMax: setting(
    {
      name: "PROCESS_BYTES_MAX",
      schema: positiveBytes,
      description: "Bytes of all events in memory, per ingest process.",
    },
    512 * MiB,
  ),
  largeBytesMax: setting(
    {
      name: "LARGE_BYTES_MAX",
      schema: positiveBytes,
      description: "Bytes of events above 1 MB that are received or worked on at once; the others wait.",
    },
    192 * MiB,
  ),
  streamWindowBytes: setting(
    {
      name: "STREAM_WINDOW_BYTES",
      schema: bytes.max(2 ** 31 - 1),
      description:
        "HTTP/2 window of a stream: what it may send per round trip, and may hold beyond its bound while it is not read from.",
    },
    64 * KiB - 1,
  ),
  batchEventsMax: setting(
    { name: "BATCH_EVENTS_MAX", schema: count, description: "Events of a batch." },
    500,
  ),
  batchBytesMax: setting(
    {
      name: "BATCH_BYTES_MAX",
      schema: positiveBytes,
      description: "Bytes of a batch's events and log text before compression.",
    },
    256 * KiB,
  ),
  batchDelayMs: setting(
    {
      name: "BATCH_DELAY_MS",
      schema: milliseconds,
      description: "Longest wait for a batch to fill while another one is on its way, in milliseconds.",
    },
    50,
  ),
  inFlightBatchesMax: setting(
    {
      name: "IN_FLIGHT_BATCHES_MAX",
      schema: count,
      description: "Batches of a stream on their way at once.",
    },
    4,
  ),
  inFlightBytesMax: setting(
    {
      name: "IN_FLIGHT_BYTES_MAX",
      schema: positiveBytes,
      description: "Bytes of a stream's batches on their way at once.",
    },
    1 * MiB,
  ),
  natsPayloadBytesMax: setting(
    {
      name: "NATS_PAYLOAD_BYTES_MAX",
      schema: positiveBytes,
      description: "The NATS server's max_payload; larger bodies go through the blob store.",
    },
    8 * MiB,
  ),
  outageHoldMaxMs: setting(
    {
      name: "OUTAGE_HOLD_MAX_MS",
      schema: milliseconds,
      description: "How long streams are held while storage is away, in milliseconds.",
    },
    600_000,
  ),
  drainDeadlineMs: setting(
    {
      name: "DRAIN_DEADLINE_MS",
      schema: milliseconds,
      description: "When a stopping process has ended its last stream, in milliseconds.",
    },
    10_000,
  ),
  failPoint: setting<IngestFailPoint | undefined>(
    {
      name: "INGEST_FAIL_POINT",
      schema: failPointText(failPointNames),
      description: "For tests: where the ingest process kills itself, and at which visit.",
    },
    undefined,
  ),
  failPoints: setting(
    {
      name: "FAIL_POINTS",
      schema: booleanText,
      description: "Lets tests kill worker threads over HTTP, from the loopback interface only.",
    },
    false,
  ),
};

export type IngestSettings = Settings<typeof ingestSettings>;

/** Checks how the limits stand to each other; fails with a `ConfigError` that names what contradicts. */
export function checkRelations(settings: IngestSettings): void {
  const problems: string[] = [];
  const ascending = [
    ["MILLRACE_BATCH_BYTES_MAX", settings.batchBytesMax],
    ["MILLRACE_IN_FLIGHT_BYTES_MAX", settings.inFlightBytesMax],
    ["MILLRACE_STREAM_BYTES_MAX", settings.streamBytesMax],
    ["MILLRACE_PROJECT_BYTES_MAX", settings.projectBytesMax],
    ["MILLRACE_PROCESS_BYTES_MAX", settings.processBytesMax],
  ] as const;
  ascending.forEach(([name, value], at) => {
    const next = ascending[at + 1];
    if (next !== undefined && value > next[1])
      problems.push(`${name}=${value} is above ${next[0]}=${next[1]}`);
  });
  const messageCost = settings.messageBytesMax + requestSlackBytes + eventOverheadBytes;
  if (messageCost > settings.projectBytesMax) {
    problems.push(
      `the largest event (MILLRACE_MESSAGE_BYTES_MAX=${settings.messageBytesMax}, with what is around it ${messageCost}) does not fit into MILLRACE_PROJECT_BYTES_MAX=${settings.projectBytesMax}`,
    );
  }
  if (batchMessageBytesMax(settings) < settings.batchBytesMax) {
    problems.push(
      `MILLRACE_NATS_PAYLOAD_BYTES_MAX=${settings.natsPayloadBytesMax} leaves no room for a batch (MILLRACE_BATCH_BYTES_MAX=${settings.batchBytesMax} and ${messageSlackBytes} around it)`,
    );
  }
  if ((settings.tlsCertificate === "") !== (settings.tlsKey === "")) {
    problems.push("MILLRACE_TLS_CERTIFICATE and MILLRACE_TLS_KEY are given together or not at all");
  }
  if (settings.tlsClientCa !== "" && settings.tlsCertificate === "") {
    problems.push("MILLRACE_TLS_CLIENT_CA needs MILLRACE_TLS_CERTIFICATE");
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** What one batch may have as a NATS message, compressed. */
export function batchMessageBytesMax(settings: IngestSettings): number {
  return settings.natsPayloadBytesMax - messageSlackBytes;
}
