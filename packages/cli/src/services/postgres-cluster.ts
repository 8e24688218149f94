import { existsSync } from "node:fs";
import { chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { type Identity, runToEnd } from "./spawn-service.ts";

/** The superuser of the embedded cluster. */
export const postgresUser = "postgres";

/** The database that a new cluster holds for us. */
export const postgresDatabase = "millrace";

/** A cluster that can be started. */
export interface PostgresCluster {
  readonly directory: string;
  readonly password: string;
}

/**
 * The cluster in `home/postgres`, made when it is not there. It appears by a rename: one whose making was
 * interrupted is never taken for whole.
 */
export async function prepareCluster(where: {
  readonly home: string;
  readonly binaries: PostgresBinaries;
  readonly identity: Identity | undefined;
  /** Off for data that need not outlive this process. */
  readonly sync: boolean;
}): Promise<PostgresCluster> {
  const directory = join(where.home, "postgres");
  const passwordFile = join(where.home, "postgres-password");
  if (existsSync(join(directory, "PG_VERSION"))) {
    await checkVersion(directory, where.binaries);
    return { directory, password: (await readFile(passwordFile, "utf8")).trim() };
  }
  const password = Buffer.from(systemRandom.bytes(24)).toString("base64url");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (where.identity !== undefined) {
    for (const path of [unfinished, passwordFile]) await chown(path, where.identity.uid, where.identity.gid);
  }
  await initialise({ ...where, unfinished, passwordFile });
  await rename(unfinished, directory);
  return { directory, password };
}

/** Text compares by code point (fast, the same everywhere) while upper and lower case know all of Unicode. */
const localeArgs = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];

async function initialise(what: {
  readonly binaries: PostgresBinaries;
  readonly identity: Identity | undefined;
  readonly sync: boolean;
  readonly unfinished: string;
  readonly passwordFile: string;
}): Promise<void> {
  const authArgs = ["--auth-local=trust", "--auth-host=scram-sha-256", `--pwfile=${what.passwordFile}`];
  const syncArgs = what.sync ? [] : ["--no-sync"];
  const steps = [
    {
      program: what.binaries.initdb,
      args: ["-D", what.unfinished, `--username=${postgresUser}`, ...authArgs, ...localeArgs, ...syncArgs],
      input: "",
    },
    {
      program: what.binaries.postgres,
      args: ["--single", "-D", what.unfinished, "postgres"],
      input: `create database ${postgresDatabase}\n`,
    },
  ];
  for (const step of steps) {
    const { code, output } = await runToEnd({ ...step, identity: what.identity });
    if (code !== 0) throw failure(`the making of a new cluster failed: ${output.trim().slice(-500)}`);
  }
}

async function checkVersion(directory: string, binaries: PostgresBinaries): Promise<void> {
  const has = (await readFile(join(directory, "PG_VERSION"), "utf8")).trim();
  const { output } = await runToEnd({ program: binaries.postgres, args: ["--version"], input: "" });
  const wants = output.match(/(\d+)/)?.[1];
  if (has === wants) return;
  throw failure(
    `${directory} was written by PostgreSQL ${has}, the embedded one is ${wants}: export the data with the ` +
      "Millrace that wrote it and import it into a new data directory.",
  );
}

function failure(message: string): MillraceError {
  return new MillraceError({ remedy: "crash", code: "postgres-cluster", message: `PostgreSQL: ${message}` });
}
