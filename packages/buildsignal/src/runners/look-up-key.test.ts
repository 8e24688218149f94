import { expect, test } from "vitest";
import { request } from "./build-server.fixture.ts";
import { lookUpKey } from "./look-up-key.ts";

test("begins with the request's own key and is the same at every try", () => {
  expect(lookUpKey(request)).toMatch(/^request\/trunk\/7#1@[0-9a-f]{12}$/);
  expect(lookUpKey({ ...request, metadata: {} })).toBe(lookUpKey(request));
});

test("is another one for the same request of another database, where it stands for another commit", () => {
  const others = [{ headUri: "other" }, { baseUri: "other" }, { project: "other" }, { queue: "other" }];
  expect(new Set([request, ...others.map((other) => ({ ...request, ...other }))].map(lookUpKey)).size).toBe(
    5,
  );
});
