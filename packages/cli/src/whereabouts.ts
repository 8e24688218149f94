import { join } from "node:path";
import { readSettings } from "@millrace/base/config";
import { MillraceError } from "@millrace/base/errors";
import { type BlobSettings, blobSettings } from "@millrace/blobs/settings";
import { settingFlag } from "./command-line/flag.ts";
import { cliSettings } from "./settings.ts";
import { type Addresses, findRunning } from "./up/running-state.ts";

/** Flags by which a command is told where Millrace is; without them it looks at the data directory. */
export const whereFlags = {
  dataDir: settingFlag(cliSettings.dataDir, {
    placeholder: "DIR",
    description: "Data directory of the Millrace that runs here; its addresses are read there.",
  }),
  databaseUrl: settingFlag(cliSettings.databaseUrl, { placeholder: "URL", description: "Its PostgreSQL." }),
  natsUrl: settingFlag(cliSettings.natsUrl, { placeholder: "URL", description: "Its NATS." }),
  blobDir: settingFlag(cliSettings.blobDir, { placeholder: "DIR", description: "Its directory of blobs." }),
  s3Endpoint: settingFlag(blobSettings.s3Endpoint, { placeholder: "URL", description: "Its S3 service." }),
  s3Bucket: settingFlag(blobSettings.s3Bucket, { placeholder: "NAME", description: "Its bucket there." }),
  server: settingFlag(cliSettings.server, { placeholder: "URL" }),
};

/** What was said on the command line or in the environment; empty: nothing. */
export interface Asked {
  readonly dataDir: string;
  readonly databaseUrl?: string;
  readonly natsUrl?: string;
  readonly blobDir?: string;
  readonly s3Endpoint?: string;
  readonly s3Bucket?: string;
  readonly server?: string;
}

/** PostgreSQL's URL; fails with a sentence when nobody says where it is. */
export function whereDatabase(asked: Asked): string {
  return asked.databaseUrl || running(asked, "--database-url").databaseUrl;
}

export function whereNats(asked: Asked): string {
  return asked.natsUrl || running(asked, "--nats-url").natsUrl;
}

/** Of dashboard and API, without a slash at its end. */
export function whereServer(asked: Asked): string {
  return (asked.server || running(asked, "--server").httpUrl).replace(/\/+$/, "");
}

export function whereBackend(asked: Asked): string {
  return running(asked, "--backend").grpcUrl;
}

/** A directory or a bucket, whether anything runs or not. Keys and region come from the environment. */
export function whereBlobs(
  asked: Asked & { readonly s3Bucket: string },
  environment: Readonly<Record<string, string | undefined>>,
): BlobSettings {
  const found = findRunning(asked.dataDir);
  const isTold = Boolean(asked.blobDir || asked.s3Endpoint);
  return {
    ...readSettings(blobSettings, environment),
    blobDirectory: asked.blobDir || found?.blobDirectory || join(asked.dataDir, "blobs"),
    s3Endpoint: isTold ? (asked.s3Endpoint ?? "") : (found?.s3Endpoint ?? ""),
    s3Bucket: isTold ? asked.s3Bucket : found?.s3Bucket || asked.s3Bucket,
  };
}

function running(asked: Asked, flag: string): Addresses {
  const addresses = findRunning(asked.dataDir);
  if (addresses !== undefined) return addresses;
  throw new MillraceError({
    remedy: "reject",
    code: "not-running",
    message:
      `No Millrace runs on ${asked.dataDir}: start one with npm start, name another --data-dir, ` +
      `or say where it is with ${flag}.`,
  });
}
