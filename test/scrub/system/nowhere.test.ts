import { randomUUID } from "node:crypto";
import { makeSecrets, type PlantedSecret } from "@millrace/actors/scrub/secrets.fixture";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Cluster, startCluster } from "../../e2e/cluster.ts";
import { openOddStream } from "../../e2e/odd-stream.ts";
import { lettersOf } from "../letters.ts";
import { plantedRequests } from "../planted-build.ts";
import { SecretSearch } from "../search/secret-search.ts";
import { searchAnswers, searchBlobs, searchDatabase, searchTraffic } from "./everything.ts";
import { splitsOf, uploadSplit } from "./split-logs.ts";
import { startUnscrubbedIngest } from "./unscrubbed-ingest.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 180_000 });

let cluster: Cluster;
const lines: string[] = [];

beforeAll(async () => {
  cluster = await startCluster({ onLine: (line) => lines.push(line) });
});
afterAll(() => cluster.stop());

function searchFor(secrets: readonly PlantedSecret[]): SecretSearch {
  return new SecretSearch(
    secrets.map(({ kind, material }) => ({ name: kind, bytes: Buffer.from(material) })),
  );
}

/** Uploads a build with the secret in every place; answers its invocation. */
async function upload(address: string, secret: PlantedSecret, isLarge: boolean): Promise<string> {
  const names = { buildId: randomUUID(), invocationId: randomUUID() };
  const stream = openOddStream(address);
  stream.send(...plantedRequests(secret, { ...names, isLarge }));
  stream.halfClose();
  const { code, message } = await stream.ended();
  await stream.close();
  expect(code, message).toBe(0);
  return names.invocationId;
}

/** Runs at most `many` at a time. */
async function inParallel<T>(
  items: readonly T[],
  many: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: many }, async () => {
      for (const item of rest) await run(item);
    }),
  );
}

test("of sixty secrets in every place of a stream nothing is stored, sent, logged or answered", async () => {
  const secrets = makeSecrets(lettersOf(2));
  const search = searchFor(secrets);
  const traffic = await searchTraffic(cluster, search);
  const invocations: string[] = [];
  await inParallel([...secrets.entries()], 4, async ([index, secret]) => {
    invocations.push(await upload(cluster.grpcAddress, secret, index % 12 === 0));
  });
  for (const invocation of invocations) await searchAnswers(cluster, search, invocation);
  const { tables } = await searchDatabase(cluster, search);
  const { files } = await searchBlobs(cluster, search);
  search.look("logs", lines.join("\n"));
  await traffic.stop();
  expect(search.found()).toEqual([]);
  // All of it was looked at.
  expect({ tables: tables > 20, files: files > 0, messages: traffic.count() > secrets.length }).toEqual({
    tables: true,
    files: true,
    messages: true,
  });
});

test("nor of those that two progress events have a half of, whatever the halves, with a take-over between", async () => {
  const secrets = makeSecrets(lettersOf(3));
  const search = searchFor(secrets);
  await inParallel(splitsOf(secrets), 250, (split) => uploadSplit(cluster.grpcAddress, split));
  await searchDatabase(cluster, search);
  search.look("logs", lines.join("\n"));
  expect(search.found()).toEqual([]);
});

test("without scrubbing all sixty are found, in the database, on NATS and in the answers", async () => {
  const secrets = makeSecrets(lettersOf(4));
  const search = searchFor(secrets);
  const open = await startUnscrubbedIngest(cluster);
  const traffic = await searchTraffic(cluster, search);
  const invocations: string[] = [];
  await inParallel(secrets, 4, async (secret) => {
    invocations.push(await upload(open.address, secret, false));
  });
  for (const invocation of invocations) await searchAnswers(cluster, search, invocation);
  await searchDatabase(cluster, search);
  await traffic.stop();
  await open.stop();
  for (const place of ["NATS", "database event_segments", "API /events", "API /log"]) {
    expect(search.foundIn(place).size, place).toBe(secrets.length);
  }
});
