import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../test/services/database.ts";
import { type BreakingProxy, breakingProxy } from "./breaking-proxy.fixture.ts";
import { connect, type Database } from "./connect.ts";
import { classifyFailure } from "./errors.ts";
import { projects } from "./schema/projects.ts";

let fresh: TestDatabase;
let proxy: BreakingProxy;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  proxy = await breakingProxy(fresh.url);
  database = connect({ url: proxy.url, max: 2, name: "connect test" });
});
afterAll(async () => {
  await database.close();
  await proxy[Symbol.asyncDispose]();
  await fresh.drop();
});

test("a bigint is a number, the session is in UTC and says whose it is", async () => {
  const [row] = await database.sql.unsafe(
    "select 9007199254740991 as big, current_setting('TimeZone') as zone, current_setting('application_name') as name",
  );
  expect(row).toEqual({ big: 9007199254740991, zone: "UTC", name: "connect test" });
});

test("arrays go there and back", async () => {
  const [row] = await database.sql.unsafe("select $1::text[] as texts, $2::bigint[] as numbers", [
    ["a", 'b "c" \\ {d}, e', "", "null"],
    [1, 2],
  ]);
  expect(row).toEqual({ texts: ["a", 'b "c" \\ {d}, e', "", "null"], numbers: [1, 2] });
});

test("Drizzle reads and writes the same rows", async () => {
  const [row] = await database.orm.select().from(projects).where(eq(projects.id, "default"));
  expect(row).toMatchObject({ id: "default", name: "default", createdAt: expect.any(Date) });
});

test("failed attempts to connect do not use the pool up", async () => {
  proxy.refuse();
  for (let tries = 0; tries < 6; tries += 1) {
    const failure: unknown = await database.sql.unsafe("select 1").then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(classifyFailure(failure)).toBe("retry");
  }
  proxy.allow();
  expect(await database.sql.unsafe("select 1 as one")).toHaveLength(1);
});

test("a Unix socket is reached by the directory it lies in", async () => {
  const [row] = await database.sql.unsafe("select current_setting('unix_socket_directories') as directory");
  const directory = String(row?.directory).split(",")[0]?.trim() ?? "";
  if (directory === "") return; // This server has none.
  const url = new URL(fresh.url);
  url.searchParams.set("host", directory);
  const local = connect({ url: url.href, max: 1, name: "local" });
  expect(await local.sql.unsafe("select inet_client_addr() is null as local")).toEqual([{ local: true }]);
  await local.close();
});
