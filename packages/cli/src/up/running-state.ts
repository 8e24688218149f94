import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { holderOfDataDir } from "./data-dir-lock.ts";
import { processIdentitySchema } from "./process-identity.ts";

const stateName = "up.json";

const addressesSchema = z.object({
  /** What follows `--bes_backend=`. */
  grpcUrl: z.string(),
  /** Of dashboard and API, without a slash at its end. */
  httpUrl: z.string(),
  /** Of the front door's /readyz and /metrics. */
  opsUrl: z.string(),
  /** Holds a password. */
  databaseUrl: z.string(),
  natsUrl: z.string(),
  blobDirectory: z.string(),
  /** Empty: blobs lie in the directory. */
  s3Endpoint: z.string().default(""),
  s3Bucket: z.string().default(""),
});

/** Where a running Millrace can be reached. */
export type Addresses = z.infer<typeof addressesSchema>;

const stateSchema = z.object({
  /** Undefined until everything is ready. */
  addresses: addressesSchema.optional(),
  /** By name: `postgres`, `nats`, `writer-1`, …, `ingest`, `api`. */
  processes: z.record(z.string(), processIdentitySchema),
});

/** What `millrace up` writes down about itself, for other commands and for its next start. */
export type RunningState = z.infer<typeof stateSchema>;

/** Readable by us alone. Replaced as a whole. */
export function writeState(dataDir: string, state: RunningState): void {
  const file = join(dataDir, stateName);
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** What the last `millrace up` on this directory wrote, whether it still runs or not. */
export function readLastState(dataDir: string): RunningState | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(join(dataDir, stateName), "utf8")));
  } catch {
    return undefined; // Nothing ran here yet, or another version did.
  }
}

/** Addresses of the Millrace that runs on this directory; undefined when none is ready there. */
export function findRunning(dataDir: string): Addresses | undefined {
  return holderOfDataDir(dataDir) === undefined ? undefined : readLastState(dataDir)?.addresses;
}
