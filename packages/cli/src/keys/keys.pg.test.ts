import { findValidKey, keyDigest } from "@millrace/db/api-keys";
import { connect, type Database } from "@millrace/db/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { keys } from "../commands/keys.ts";

let store: TestDatabase;
let database: Database;

beforeAll(async () => {
  store = await freshDatabase();
  database = connect({ url: store.url, max: 1, name: "keys-test" });
});
afterAll(async () => {
  await database.close();
  await store.drop();
});

async function run(...args: string[]): Promise<{ code: number; out: string[]; said: string[] }> {
  const out: string[] = [];
  const said: string[] = [];
  const terminal = {
    print: (line: string) => void out.push(line),
    complain: (line: string) => void said.push(line),
    write: async () => {},
    isInteractive: false,
    isColoured: false,
  };
  const code = await keys.run([...args, "--database-url", store.url], { terminal, environment: {} });
  return { code, out, said };
}

async function make(...args: string[]): Promise<{ id: string; text: string }> {
  const { code, out, said } = await run("create", ...args);
  expect({ code, said: said.length, lines: out.length }).toEqual({ code: 0, said: 1, lines: 1 });
  const text = out[0] ?? "";
  return { text, id: /^millrace_([0-9a-f]{12})_[0-9a-f]{64}$/.exec(text)?.[1] ?? "" };
}

const valid = (text: string) => findValidKey(database.orm, keyDigest(text));

async function listed(id: string): Promise<Record<string, unknown>> {
  const { out } = await run("list", "--json");
  return out.map((line) => JSON.parse(line) as Record<string, unknown>).find((key) => key.id === id) ?? {};
}

test("a key is printed once, alone, and what is stored does not hold it", async () => {
  const { id, text } = await make("--scopes", "ingest,read,ingest", "--name", "CI");
  expect(await valid(text)).toMatchObject({
    id,
    projectId: "default",
    scopes: ["ingest", "read"],
    name: "CI",
  });
  const [row] = await database.sql`select to_jsonb(api_keys)::text as row from api_keys where id = ${id}`;
  expect(row?.row).not.toContain(text.split("_")[2]);
  expect((await run("list")).out.join("\n")).not.toContain(text.split("_")[2]);
});

test("a project that is not there is not made by a slip", async () => {
  expect(await run("create", "--project", "tema")).toMatchObject({
    code: 1,
    said: ["millrace keys create: There is no project tema; --new-project makes it."],
  });
  const { text } = await make("--project", "team", "--new-project");
  expect(await valid(text)).toMatchObject({ projectId: "team" });
});

test("an expired key is not valid", async () => {
  const { id, text } = await make("--expires", "0s");
  expect(await valid(text)).toBeUndefined();
  expect(await listed(id)).toMatchObject({ state: "expired" });
});

test("a rotated key goes on for the time of grace, its successor may do the same, and it is rotated once", async () => {
  const old = await make("--scopes", "admin", "--name", "deploy");
  const { out } = await run("rotate", old.id, "--grace", "1h");
  const next = await valid(out[0] ?? "");
  expect(next).toMatchObject({ scopes: ["admin"], name: "deploy", expiresAt: null });
  expect(await valid(old.text)).toMatchObject({ replacedBy: next?.id });
  expect(await listed(old.id)).toMatchObject({ state: "replaced" });
  expect((await run("rotate", old.id)).code).toBe(1);
  const { out: last } = await run("rotate", next?.id ?? "", "--grace", "0s");
  expect(await valid(out[0] ?? "")).toBeUndefined();
  expect(await valid(last[0] ?? "")).toBeDefined();
});

test("grace does not make a key live longer than it would have", async () => {
  const { id, text } = await make("--expires", "1h");
  const before = (await valid(text))?.expiresAt;
  await run("rotate", id, "--grace", "30d");
  expect((await valid(text))?.expiresAt).toEqual(before);
});

test("a revoked key is over, at once and for ever", async () => {
  const { id, text } = await make();
  expect((await run("revoke", id)).out).toEqual([`The key ${id} of project default is revoked.`]);
  expect(await valid(text)).toBeUndefined();
  const since = (await listed(id)).revokedAt;
  await run("revoke", id);
  expect(await listed(id)).toMatchObject({ state: "revoked", revokedAt: since });
  expect((await run("rotate", id)).code).toBe(1);
  expect((await run("revoke", "nobody")).code).toBe(1);
});

test("use is noted once in ten minutes", async () => {
  const { id, text } = await make();
  expect(await listed(id)).toMatchObject({ lastUsedAt: null });
  await valid(text);
  const first = (await listed(id)).lastUsedAt;
  expect(first).toEqual(expect.any(String));
  await valid(text);
  expect((await listed(id)).lastUsedAt).toBe(first);
  await database.sql`update api_keys set last_used_at = now() - interval '11 minutes' where id = ${id}`;
  await valid(text);
  expect((await listed(id)).lastUsedAt).not.toBe(first);
});

test.each([
  [["create", "--scopes", "ingest,everything"], "--scopes"],
  [["create", "--expires", "soon"], "--expires"],
  [["create", "--project", "A.b"], "--project"],
])("%j is refused with the flag's name", async (args, flag) => {
  const { code, said } = await run(...args);
  expect({ code, said: said[0] }).toEqual({ code: 2, said: expect.stringContaining(flag) });
});
