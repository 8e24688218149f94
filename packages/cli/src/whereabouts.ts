import { join } from "node:path";
import { MillraceError } from "@millrace/base/errors";
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
  server: settingFlag(cliSettings.server, { placeholder: "URL" }),
};

/** What was said on the command line or in the environment; empty: nothing. */
export interface Asked {
  readonly dataDir: string;
  readonly databaseUrl?: string;
  readonly natsUrl?: string;
  readonly blobDir?: string;
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

/** A directory, whether anything runs or not. */
export function whereBlobs(asked: Asked): string {
  return asked.blobDir || findRunning(asked.dataDir)?.blobDirectory || join(asked.dataDir, "blobs");
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
