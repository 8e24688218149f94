import type { ServerFacts } from "@millrace/db/diagnose";
import { expect, test } from "vitest";
import { schemaChecks, serverChecks } from "./database-checks.ts";

const settings = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  synchronous_standby_names: "",
  max_connections: "100",
};
const sound: ServerFacts = {
  version: "18.4",
  versionNumber: 180_004,
  settings,
  replicas: 0,
  synchronousReplicas: 0,
  isReadOnly: false,
  connections: 12,
};

const notOk = (over: Partial<ServerFacts>): string[] =>
  serverChecks({ ...sound, ...over }).flatMap(({ level, found }) =>
    level === "ok" ? [] : [`${level}: ${found}`],
  );

test("a sound server passes", () => {
  expect(notOk({})).toEqual([]);
  expect(notOk({ replicas: 2, synchronousReplicas: 1 })).toEqual([]);
});

test.each<[Partial<ServerFacts>, string]>([
  [{ versionNumber: 140_000, version: "14.0" }, "fail: version 14.0"],
  [{ isReadOnly: true }, "fail: takes no writes: it is a standby or read-only"],
  [{ settings: { ...settings, fsync: "off" } }, "fail: fsync is off: a crash can lose acknowledged events"],
  [
    { settings: { ...settings, fsync: "off", synchronous_commit: "off" } },
    "fail: fsync and synchronous_commit are off: a crash can lose acknowledged events",
  ],
  [{ replicas: 1 }, "warn: 1 replicas, and no commit waits for one: a failover can lose acknowledged events"],
  [{ connections: 80 }, "warn: 80 of 100 connections in use"],
])("%j is told", (over, told) => {
  expect(notOk(over)).toEqual([told]);
});

test.each([
  [{ missing: [], unknown: [], partitionDaysAhead: 14 }, ["ok", "ok"]],
  [{ missing: [], unknown: [], partitionDaysAhead: 2 }, ["ok", "warn"]],
  [{ missing: [], unknown: [], partitionDaysAhead: 0 }, ["ok", "fail"]],
  [{ missing: ["0002_x.sql"], unknown: [], partitionDaysAhead: 0 }, ["fail"]],
  [{ missing: [], unknown: ["0009_x.sql"], partitionDaysAhead: 9 }, ["warn", "ok"]],
])("a schema of %j is judged %j", (schema, levels) => {
  expect(schemaChecks(schema).map(({ level }) => level)).toEqual(levels);
});
