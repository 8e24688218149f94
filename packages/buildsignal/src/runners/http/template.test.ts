import { describe, expect, test } from "vitest";
import { commit, request } from "../build-server.fixture.ts";
import {
  commitOf,
  fillJson,
  fillPath,
  fillText,
  headerTemplate,
  template,
  triggerValues,
} from "./template.ts";

const values = triggerValues(request);

test("values of a trigger fill text", () => {
  expect(
    fillText("{head_commit} after {base_commit}. in {queue}: {metadata.author} {metadata.absent}!", values),
  ).toBe(`${commit} after . in trunk: ada !`);
  expect(fillText("{metadata}", values)).toBe('{"author":"ada"}');
});

test("a value in a path is one segment", () => {
  expect(fillPath("jobs/{key}/runs?of={head_uri}", { key: "a/b?c#d", head_uri: "x&y=z" })).toBe(
    "jobs/a%2Fb%3Fc%23d/runs?of=x%26y%3Dz",
  );
  expect(() => fillPath("jobs/{key}", { key: ".." })).toThrow("cannot stand in a URL");
});

test("a value in JSON stays inside its string, and what is no string stays", () => {
  const body = { ref: "{queue}", nested: [{ say: "{key}" }, 3, true, null] };
  expect(fillJson(body, { queue: '","x":"', key: "k" })).toEqual({
    ref: '","x":"',
    nested: [{ say: "k" }, 3, true, null],
  });
});

test.each([
  [`git://host/repo/refs/heads/main/${commit}`, commit],
  [`https://host/repo@${commit}`, commit],
  ["repo#0a1b2c3", "0a1b2c3"],
  [commit, commit],
  ["git://host/repo/tag/v1.2", "git://host/repo/tag/v1.2"],
  ["", ""],
])("the commit of %j is %j", (uri, expected) => {
  expect(commitOf(uri)).toBe(expected);
});

describe("names", () => {
  test("of a template are known ones", () => {
    expect(template.safeParse("{key} {metadata.x-y} {{}} {not a name}").success).toBe(true);
    expect(template.safeParse("{headSha}").error?.issues[0]?.message).toContain("{head_commit}");
    expect(template.safeParse("{secret:ci-token}").success).toBe(false);
  });

  test("of a header are credentials only", () => {
    expect(headerTemplate.safeParse("Bearer {secret:ci-token}").success).toBe(true);
    expect(headerTemplate.safeParse("{key}").success).toBe(false);
  });
});
