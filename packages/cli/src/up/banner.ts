import { errorText } from "@millrace/base/errors";
import { readServerFacts } from "../api-client.ts";

/** The lines for .bazelrc as our own API tells them, so that the dashboard shows the same ones. */
export async function readBazelrc(httpUrls: readonly string[]): Promise<readonly string[]> {
  let failure: unknown;
  for (const httpUrl of httpUrls) {
    try {
      return (await readServerFacts(httpUrl)).bazelrc;
    } catch (error) {
      failure = error; // A name of this machine need not lead to it from here.
    }
  }
  return [`# not known: ${errorText(failure)}`];
}

/** What a person should see once everything is ready. */
export function readyBanner(of: {
  readonly httpUrl: string;
  readonly bazelrc: readonly string[];
  readonly dataDir: string;
  readonly seconds: number;
  /** Hosts that are not this machine's alone. */
  readonly openHosts: readonly string[];
  readonly hasDashboard: boolean;
}): string[] {
  const warning = of.openHosts.map(
    (host) =>
      `  Careful: it listens on ${host}. Whoever reaches that can read and send builds; no key is asked for.`,
  );
  return [
    "",
    `  Millrace is running (ready after ${of.seconds.toFixed(1)} s).`,
    "",
    `  ${of.hasDashboard ? "Dashboard" : "API"}:  ${of.hasDashboard ? of.httpUrl : `${of.httpUrl}/api/v1`}`,
    "",
    "  To send builds here, paste this into the .bazelrc of your workspace:",
    "",
    ...of.bazelrc.map((line) => `    ${line}`),
    "",
    ...warning,
    `  Data is kept in ${of.dataDir}. Stop with Ctrl-C.`,
    "",
  ];
}
