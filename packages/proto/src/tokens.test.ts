import fc from "fast-check";
import { expect, test } from "vitest";
import { invocationToken, shardCount, shardOf } from "./tokens.ts";

test("a UUID is its own token", () => {
  expect(invocationToken("0b5a2f7e-6f4e-4d0c-9f6e-2f4dd3e0c001")).toBe(
    "0b5a2f7e-6f4e-4d0c-9f6e-2f4dd3e0c001",
  );
});

test("any other id becomes a token without dots, wildcards or spaces, and different ids differ", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(invocationToken(a)).toMatch(/^[a-z0-9-]+$/);
      expect(invocationToken(a) === invocationToken(b)).toBe(a === b);
    }),
  );
  for (const id of ["a.b", "*", ">", "a b", ""]) expect(invocationToken(id)).toMatch(/^x[a-z2-7]{52}$/);
});

test("shards are pinned: an invocation stays on its shard across versions", () => {
  expect(shardOf("default", "0b5a2f7e-6f4e-4d0c-9f6e-2f4dd3e0c001")).toBe(54);
  expect(shardOf("default", "a")).toBe(63);
});

test("invocations spread over all shards", () => {
  const hit = new Set(Array.from({ length: 2000 }, (_, n) => shardOf("default", `id-${n}`)));
  expect(hit.size).toBe(shardCount);
});
