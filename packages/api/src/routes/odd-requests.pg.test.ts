import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { seedBuild } from "../../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

const invocationId = randomUUID();
const build = `projects/default/invocations/${invocationId}`;

let store: TestDatabase;
let server: ApiServer;

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
  const seeded = await seedBuild(server, { invocationId });
  await seeded.targets([{ label: "//a", status: "built" }]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.drop();
});

/** Text that something may stumble over: of SQL, of JSON, of numbers, of Unicode, of a query. */
const odd = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "\0",
    "\ud800",
    "'",
    "%",
    "..",
    "*",
    ">",
    "-1",
    "0",
    "1e999",
    "9007199254740993",
    "NaN",
    "",
  ),
  fc.constantFrom("status:", "user:/(a+)+$/", "started:<99999999999d", "-", "((", '"', "a".repeat(5_000)),
  fc.json({ maxDepth: 2 }).map((text) => Buffer.from(text).toString("base64url")),
  fc
    .integer({ min: -(2 ** 53), max: 2 ** 53 })
    .map((at) => Buffer.from(`[${at},${at}]`).toString("base64url")),
);

const paths = fc.oneof(
  fc.constantFrom(
    "projects/default/builds",
    "projects/default/builds/facets",
    "projects/default/builds/values",
  ),
  fc
    .constantFrom("actions", "details", "events", "bep", "log", "metrics", "outputs", "targets", "tests")
    .map((part) => `${build}/${part}`),
  fc.constantFrom("queues", "queues/main/requests", "signal/dead-letters", build, `${build}/test-results`),
  odd.map((id) => `invocations/${encodeOdd(id)}`),
  odd.map((id) => `projects/${encodeOdd(id)}/builds`),
  odd.map((id) => `projects/default/invocations/${encodeOdd(id)}/log`),
  odd.map((id) => `queues/${encodeOdd(id)}`),
);
const parameters = fc.dictionary(
  fc.constantFrom(
    ...["cursor", "limit", "query", "attempt", "order", "field", "prefix", "label", "after", "from", "to"],
    ...["configuration", "aspect", "status", "state", "project", "queue", "kind"],
  ),
  odd,
  { maxKeys: 3 },
);
const headers = fc.record(
  {
    range: fc.oneof(
      fc.constantFrom("bytes=-", "bytes=5-1", "bytes=99999999999999999999-", "lines=1-2", "bytes=0-0,2-3"),
      fc.string({ maxLength: 20 }),
    ),
    "if-none-match": fc.string({ maxLength: 20 }),
    "x-api-key": fc.string({ maxLength: 20 }),
  },
  { requiredKeys: [] },
);

function encodeOdd(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

test("whatever is asked is answered, and never by a fault of ours", async () => {
  await fc.assert(
    fc.asyncProperty(paths, parameters, headers, async (path, query, given) => {
      const text = Object.entries(query).map(([name, value]) => `${name}=${encodeOdd(value)}`);
      const response = await server.fetch(`/api/v1/${path}?${text.join("&")}`, { headers: given });
      const body = await response.text();
      expect(response.status, body).toBeLessThan(500);
      if (response.status < 400) return;
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(JSON.parse(body)).toMatchObject({ status: response.status, code: expect.any(String) });
    }),
    { numRuns: 600 },
  );
});
