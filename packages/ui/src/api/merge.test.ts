import type { Build, Target } from "@millrace/client/client";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeBuild } from "./merge-builds.ts";
import { mergeRows, type RowKind } from "./merge-rows.ts";
import type { Page } from "./queries.ts";

const build = (invocationId: string, more: Partial<Build> = {}): Build =>
  ({
    invocationId,
    attempt: 1,
    status: "running",
    command: "test",
    user: "ann",
    createdAt: `2026-12-01T00:00:0${invocationId}.000Z`,
    lastSequence: 1,
    ...more,
  }) as unknown as Build;

const ids = (pages: readonly Page<Build>[]) =>
  pages.map((page) => page.rows.map((row) => row.invocationId).join(""));

describe("a list of builds", () => {
  const pages = [
    { rows: [build("8"), build("7")], nextCursor: "x" },
    { rows: [build("5"), build("4")], nextCursor: "y" },
  ];

  test("takes a new one on top and a change where it is", () => {
    expect(ids(mergeBuild(pages, build("9"), {}))).toEqual(["987", "54"]);
    const changed = mergeBuild(pages, build("5", { status: "failed", lastSequence: 2 }), {});
    expect(ids(changed)).toEqual(["87", "54"]);
    expect(changed[1]?.rows[0]?.status).toBe("failed");
  });

  test("leaves out what lies behind the loaded pages, unless they are all", () => {
    expect(ids(mergeBuild(pages, build("1"), {}))).toEqual(["87", "54"]);
    const all = [{ rows: [build("8")], nextCursor: null }];
    expect(ids(mergeBuild(all, build("1"), {}))).toEqual(["81"]);
    expect(ids(mergeBuild([{ rows: [], nextCursor: null }], build("1"), {}))).toEqual(["1"]);
  });

  test("obeys its filter when a build begins and when it stops to fit", () => {
    const running = { status: ["running" as const] };
    expect(ids(mergeBuild(pages, build("5", { status: "failed", lastSequence: 2 }), running))).toEqual([
      "87",
      "4",
    ]);
    expect(ids(mergeBuild(pages, build("9", { user: "ben" }), { user: ["ann"] }))).toEqual(["87", "54"]);
    expect(ids(mergeBuild(pages, build("9"), { command: ["build"] }))).toEqual(["87", "54"]);
    expect(ids(mergeBuild(pages, build("9"), { command: [] }))).toEqual(["987", "54"]);
  });

  test("a further attempt moves its invocation to the top", () => {
    const again = build("4", { attempt: 2, createdAt: "2026-12-01T00:01:00.000Z" });
    expect(ids(mergeBuild(pages, again, {}))).toEqual(["487", "5"]);
  });

  test("a state that comes late changes nothing", () => {
    const newer = [{ rows: [build("5", { lastSequence: 9, status: "failed" })], nextCursor: null }];
    expect(mergeBuild(newer, build("5", { lastSequence: 3 }), {})[0]?.rows[0]?.status).toBe("failed");
  });
});

describe("a table", () => {
  const kind: RowKind<Target> = {
    place: (row) => [row.label, row.aspect, row.configuration],
    status: (row) => row.status,
    label: (row) => row.label,
  };
  const row = (label: string, status: Target["status"] = "built", aspect = ""): Target =>
    ({ label, status, aspect, configuration: "" }) as Target;
  const labels = (pages: readonly Page<Target>[]) =>
    pages.map((page) => page.rows.map((each) => each.label).join(""));
  const pages = [
    { rows: [row("b"), row("d")], nextCursor: "x" },
    { rows: [row("f"), row("h")], nextCursor: "y" },
  ];

  test("replaces rows, adds those whose place is loaded, leaves out the others", () => {
    const merged = mergeRows(pages, [row("d", "failed"), row("a"), row("e"), row("z")], { kind, filter: {} });
    expect(labels(merged).join("")).toBe("abdefh");
    expect(merged.flatMap((page) => page.rows)[2]?.status).toBe("failed");
    expect(
      labels(mergeRows([{ rows: [row("b")], nextCursor: null }], [row("z")], { kind, filter: {} })),
    ).toEqual(["bz"]);
  });

  test("takes out what does not fit its filter any more", () => {
    const filter = { status: ["built"], contains: "" };
    expect(labels(mergeRows(pages, [row("b", "failed")], { kind, filter }))).toEqual(["d", "fh"]);
    expect(labels(mergeRows(pages, [row("c", "built")], { kind, filter: { contains: "X" } }))).toEqual([
      "bd",
      "fh",
    ]);
  });

  test("after any changes is what the server would have sent", () => {
    const rowOf = fc.record({
      label: fc.constantFrom("a", "b", "c", "d", "e"),
      aspect: fc.constantFrom("", "x"),
      status: fc.constantFrom("built" as const, "failed" as const, "configured" as const),
    });
    const filter = { status: ["built", "failed"] };
    fc.assert(
      fc.property(fc.array(fc.array(rowOf, { minLength: 1, maxLength: 4 }), { maxLength: 8 }), (changes) => {
        let merged: Page<Target>[] = [{ rows: [], nextCursor: null }];
        const truth = new Map<string, Target>();
        for (const change of changes) {
          const rows = change.map((each) => row(each.label, each.status, each.aspect));
          const latest = new Map(rows.map((each) => [kind.place(each).join("\n"), each]));
          for (const [key, each] of latest) truth.set(key, each);
          merged = mergeRows(merged, [...latest.values()], { kind, filter });
        }
        const expected = [...truth.entries()]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([, each]) => each)
          .filter((each) => each.status !== "configured");
        expect(merged[0]?.rows).toEqual(expected);
      }),
    );
  });
});
