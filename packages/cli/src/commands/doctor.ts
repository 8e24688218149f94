import { ingestSettings } from "@millrace/actors/settings";
import { systemClock } from "@millrace/base/clock";
import { readSettings } from "@millrace/base/config";
import { systemRandom } from "@millrace/base/random";
import { z } from "zod";
import { defineCommand } from "../command-line/command.ts";
import { switchFlag, valueFlag } from "../command-line/flag.ts";
import { type Check, checkText, fail, ok } from "../doctor/check.ts";
import { checkDatabase } from "../doctor/database-checks.ts";
import { checkBlobs } from "../doctor/disk-checks.ts";
import { checkNats } from "../doctor/nats-checks.ts";
import { checkRuntime } from "../doctor/runtime-checks.ts";
import { checkApi, checkFrontDoor } from "../doctor/service-checks.ts";
import { holderOfDataDir } from "../up/data-dir-lock.ts";
import { type Addresses, findRunning } from "../up/running-state.ts";
import { whereBlobs, whereFlags } from "../whereabouts.ts";

const flags = {
  json: switchFlag("Prints one list of objects."),
  dataDir: whereFlags.dataDir,
  databaseUrl: whereFlags.databaseUrl,
  natsUrl: whereFlags.natsUrl,
  blobDir: whereFlags.blobDir,
  s3Endpoint: whereFlags.s3Endpoint,
  s3Bucket: whereFlags.s3Bucket,
  server: whereFlags.server,
  backend: valueFlag(
    {
      placeholder: "URL",
      schema: z.string().min(1),
      description: "Its front door: grpc://host:port, or grpcs://host:port for TLS.",
    },
    "",
  ),
};

/** Looks at everything that Millrace needs. */
export const doctor = defineCommand({
  name: "doctor",
  about: [
    "Looks at everything that Millrace needs, says how it stands with each (ok, warn, fail), and what to do. The " +
      "first thing to run when something seems wrong; its output belongs in every report of a fault.",
    "The exit code is 1 if anything fails. What is looked at can be named by flags; without them it is the " +
      "Millrace that runs here.",
  ],
  flags,
  examples: [{ line: "millrace doctor", does: "Of the Millrace that runs here." }],
  run: async ({ flags: asked, terminal, environment }) => {
    const found = findRunning(asked.dataDir);
    const checks: Check[] = [];
    const tell = (more: readonly Check[]): void => {
      checks.push(...more);
      if (asked.json) return;
      for (const check of more) terminal.print(checkText(check, terminal));
    };
    tell(await checkRuntime());
    const isTold = [asked.databaseUrl, asked.natsUrl, asked.server, asked.backend].some((url) => url !== "");
    if (!isTold) tell([runningCheck(asked.dataDir, found)]);
    const where = { ...asked, ...withFound(asked, found) };
    if (where.databaseUrl !== "") tell(await checkDatabase(where.databaseUrl));
    if (where.natsUrl !== "") {
      const payloadBytesMax = readSettings(ingestSettings, environment).natsPayloadBytesMax;
      tell(await checkNats(where.natsUrl, { clock: systemClock, payloadBytesMax }));
    }
    tell(await checkBlobs(whereBlobs(asked, environment), { clock: systemClock, random: systemRandom }));
    if (where.backend !== "") tell([await checkFrontDoor(where.backend, systemClock)]);
    if (where.server !== "") tell([await checkApi(where.server)]);
    if (asked.json) terminal.print(JSON.stringify(checks));
    return checks.some((check) => check.level === "fail") ? 1 : 0;
  },
});

function runningCheck(dataDir: string, found: Addresses | undefined): Check {
  const holder = holderOfDataDir(dataDir);
  if (holder === undefined) {
    return fail(
      "millrace",
      `does not run on ${dataDir}`,
      "Start it with npm start, or name another --data-dir.",
    );
  }
  if (found === undefined)
    return fail("millrace", `is just starting on ${dataDir}`, "Ask again in a moment.");
  return ok("millrace", `runs on ${dataDir} (process ${holder.pid})`);
}

type Where = { readonly [K in "databaseUrl" | "natsUrl" | "server" | "backend"]: string };

/** What a flag does not say is that of the Millrace that runs here. */
function withFound(asked: Where, found: Addresses | undefined): Where {
  return {
    databaseUrl: asked.databaseUrl || (found?.databaseUrl ?? ""),
    natsUrl: asked.natsUrl || (found?.natsUrl ?? ""),
    server: asked.server || (found?.httpUrl ?? ""),
    backend: asked.backend || (found?.grpcUrl ?? ""),
  };
}
