import { systemClock } from "@millrace/base/clock";
import { connect } from "@millrace/db/connect";
import { serverVersion } from "./database-figures.ts";
import type { Millrace } from "./millrace.ts";
import { commit, machine, natsVersion } from "./provenance.ts";
import type { Origin } from "./result-line.ts";

/** What a result line says of where it comes from, as far as it does not depend on the load. */
export async function originOf(
  { addresses }: Pick<Millrace, "addresses">,
  scenario: string,
): Promise<Omit<Origin, "workload" | "plan">> {
  const database = connect({ url: addresses.databaseUrl, max: 1, name: "bench" });
  try {
    const [postgres, nats] = await Promise.all([serverVersion(database.sql), natsVersion(addresses.natsUrl)]);
    return {
      scenario,
      commit: commit(),
      date: new Date(systemClock.now()).toISOString(),
      machine: machine(),
      versions: { node: process.version, postgres, nats },
    };
  } finally {
    await database.close();
  }
}
