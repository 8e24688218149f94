/**
 * How long reads of the builds take: `pnpm bench api [builds 100000] [requests 40]`. Fills the database of a Millrace of its own,
 * asks each read over HTTP, warm and one at a time, and prints one line of JSON.
 */
import { systemClock } from "@millrace/base/clock";
import { connect } from "@millrace/db/connect";
import { seedManyBuilds } from "@millrace/test/model/seed-many-builds";
import { startMillrace } from "../scenario/millrace.ts";
import { commit, machine } from "../scenario/provenance.ts";

const [builds = 100_000, requests = 40] = process.argv.slice(2).map(Number);
const warmUpRequests = 10;

/** Reads as the dashboard sends them; `#` becomes the number of the request. */
const reads: Readonly<Record<string, string>> = {
  list: "/builds",
  "list, page 100": "/builds?cursor=PAGE",
  "list, failed": "/builds?query=status:failed",
  "list, one user": "/builds?query=user:user-#",
  "list, longest": "/builds?sort=longest",
  "list, slow tests of two months ago": "/builds?query=command:test%20duration:%3E5m%20started:%3E60d",
  "search, common": "/builds?query=ci-#",
  "search, rare": "/builds?query=feature-7#",
  "search, nothing": "/builds?query=nowhere-#",
  "regular expression, nothing": "/builds?query=user:/^nobody-#/",
  facets: "/builds/facets",
  "facets, failed": "/builds/facets?query=status:failed",
  "facets, search": "/builds/facets?query=feature-7#",
  completion: "/builds/values?field=branch&prefix=feature-#",
};

const millrace = await startMillrace({ keeps: false });
try {
  const database = connect({ url: millrace.addresses.databaseUrl, max: 1, name: "bench-api" });
  await seedManyBuilds(database, { builds });
  await database.close();
  const base = `${millrace.addresses.httpUrl}/api/v1/projects/default`;
  const cursor = Buffer.from(JSON.stringify([null, builds - 5_000])).toString("base64url");
  const times: Record<string, { p50: number; p95: number }> = {};
  for (const [name, read] of Object.entries(reads)) {
    times[name] = await timesOf(
      (nth) => `${base}${read.replace("PAGE", cursor).replace("#", String(nth % 40))}`,
    );
  }
  console.log(
    JSON.stringify({ scenario: "api", commit: commit(), machine: machine(), builds, requests, ms: times }),
  );
} finally {
  await millrace.stop();
}

/** Milliseconds until the last byte of the answer. */
async function timesOf(urlOf: (nth: number) => string): Promise<{ p50: number; p95: number }> {
  const taken: number[] = [];
  for (let nth = -warmUpRequests; nth < requests; nth++) {
    const began = systemClock.monotonic();
    const response = await fetch(urlOf(nth + warmUpRequests));
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${urlOf(nth)} answers ${response.status}`);
    if (nth >= 0) taken.push(systemClock.monotonic() - began);
  }
  taken.sort((a, b) => a - b);
  const at = (share: number) => Number((taken[Math.ceil(share * taken.length) - 1] ?? 0).toFixed(1));
  return { p50: at(0.5), p95: at(0.95) };
}
