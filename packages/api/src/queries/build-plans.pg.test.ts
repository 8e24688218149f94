import { parseQuery } from "@millrace/base/query/parse-query";
import { connect, type Database } from "@millrace/db/connect";
import { buildFields } from "@millrace/proto/build-fields";
import { drizzle } from "drizzle-orm/postgres-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seedManyBuilds } from "../../../../test/model/seed-many-builds.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { countFacets } from "./build-facets.ts";
import type { BuildOrder, BuildPlace } from "./build-order.ts";
import { listBuilds } from "./builds.ts";

let store: TestDatabase;
let database: Database;
const viewer = { projects: new Set(["default"]) };
const nowMs = Date.parse("2026-12-01T00:00:00Z");

beforeAll(async () => {
  store = await freshDatabase();
  database = connect({ url: store.url, max: 1, name: "plans" });
  await seedManyBuilds(database, { builds: 100_000 });
});
afterAll(async () => {
  await database.close();
  await store.drop();
});

function queryOf(text: string) {
  const parsed = parseQuery(text, buildFields);
  if (parsed.kind === "fault") throw new Error(parsed.fault.message);
  return parsed.query;
}

/** The statements that `run` sends, each explained as PostgreSQL would run it, with its values. */
async function plansOf(run: (orm: Database["orm"]) => Promise<unknown>): Promise<string> {
  const sent: { text: string; values: unknown[] }[] = [];
  await run(
    drizzle(database.sql, { logger: { logQuery: (text, values) => void sent.push({ text, values }) } }),
  );
  const plans = await Promise.all(
    sent.map(({ text, values }) => database.sql.unsafe(`explain ${text}`, values as string[])),
  );
  return plans.flatMap((rows) => rows.map((row) => String(row["QUERY PLAN"]))).join("\n");
}

interface Case {
  readonly query: string;
  readonly order?: BuildOrder;
  readonly after?: BuildPlace;
  readonly index: string;
}

/** Either gives the order and stops at the limit; which one is cheaper is a matter of how large the other projects are. */
const inOrder = "invocations_by_project|invocations_pkey";

const cases: Case[] = [
  { query: "", index: inOrder },
  { query: "", after: [null, 50_000], index: inOrder },
  { query: "", order: "oldest", after: [null, 50_000], index: inOrder },
  { query: "status:failed", index: `invocations_gone_wrong|${inOrder}` },
  { query: "status:interrupted,aborted", index: "invocations_gone_wrong" },
  { query: "status:running", index: "invocations_running" },
  { query: "user:user-7", index: "invocations_by_user" },
  { query: "user:user-7", after: [null, 50_000], index: "invocations_by_user" },
  { query: "branch:feature-77", index: "invocations_by_branch" },
  { query: "commit:0a1b2c", index: "invocations_by_commit" },
  { query: "", order: "longest", index: "invocations_by_duration" },
  { query: "", order: "longest", after: [60_000, 50_000], index: "invocations_by_duration" },
  { query: "", order: "shortest", after: [60_000, 50_000], index: "invocations_by_duration" },
  { query: "duration:>9h", order: "longest", index: "invocations_by_duration" },
];

test.each(cases)("$query $order $after reads by $index", async ({ query, order, after, index }) => {
  const plan = await plansOf((orm) =>
    listBuilds(orm, viewer, {
      project: "default",
      filter: { query: queryOf(query), nowMs },
      order: order ?? "newest",
      after,
      limit: 50,
    }),
  );
  expect(plan).toMatch(new RegExp(index));
  expect(plan).not.toMatch(/Seq Scan on (invocations|stream_positions)/);
});

test("facets read the newest builds in the order of an index and stop at their bound", async () => {
  const request = { project: "default", nowMs, fields: ["user", "status"] as const, valuesMax: 10 };
  const plan = await plansOf((orm) => countFacets(orm, viewer, { ...request, query: undefined }));
  expect(plan).toMatch(new RegExp(inOrder));
  expect(plan).not.toMatch(/Seq Scan on invocations/);
  const all = await countFacets(database.orm, viewer, { ...request, query: undefined });
  expect([all.builds, all.isLowerBound]).toEqual([10_000, true]);
  const some = await countFacets(database.orm, viewer, { ...request, query: queryOf("user:user-7") });
  expect(some.isLowerBound).toBe(false);
  expect(some.builds).toBeGreaterThan(0);
});
