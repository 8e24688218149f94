import fc from "fast-check";
import { expect, test } from "vitest";
import { rendezvous, routingHash } from "./hash.ts";

test("the routing hash is pinned", () => {
  expect(routingHash("")).toBe(2_872_998_923);
  expect(routingHash("default/0b5a2f7e-6f4e-4d0c-9f6e-2f4dd3e0c001") % 64).toBe(54);
});

test("when a node leaves only its keys move, whatever the order of the list", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 6 }),
      fc.array(fc.string(), { maxLength: 20 }),
      (nodes, keys) => {
        const [gone, ...rest] = nodes;
        for (const key of keys) {
          const before = rendezvous(nodes, key);
          expect(rendezvous([...nodes].reverse(), key)).toBe(before);
          if (before !== gone) expect(rendezvous(rest, key)).toBe(before);
        }
      },
    ),
  );
});

test("nobody owns a key where nobody is", () => {
  expect(rendezvous([], "a")).toBeUndefined();
});
