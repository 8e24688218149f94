import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { processEnvironment } from "@millrace/base/config";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { BepFile } from "../capture/bep-file.ts";
import { countTargets, countTests } from "../conclude/counts.ts";
import { fromAborts, fromActions, fromTest } from "../diagnose/from-events.ts";
import { rank } from "../diagnose/rank.ts";
import type { Reduced } from "./reduced.ts";

const shared =
  processEnvironment()["MILLRACE_SHARED_DATA"] ??
  path.resolve(import.meta.dirname, "../../../../../shared/data");
const fixtures = path.join(shared, "public/ewhauser_bazel-mcp");
const scratch = mkdtempSync(path.join(tmpdir(), "millrace-mcp-bep-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function reduce(file: string): Promise<{ reduced: Reduced; fault: string }> {
  const source = new BepFile(file);
  await source.finish();
  return { reduced: source.reducer.reduced(), fault: source.fault };
}

function firstCause(reduced: Reduced): string {
  const candidates = [
    ...fromActions(reduced, () => undefined),
    ...fromAborts(reduced),
    ...reduced.tests.flatMap((one) => fromTest(one, undefined)),
  ];
  return rank(candidates, 10)[0]?.message ?? "";
}

// Facts read from the JSON form of the same files with an independent decoder.
describe.skipIf(!existsSync(fixtures))("recorded files of Bazel 8 and 9", () => {
  test.each([
    ["bazel-8/cached-tests", 0, { requested: 2, succeeded: 2, failed: 0 }, { passed: 2, cached: 2 }, ""],
    ["bazel-9/cached-tests", 0, { requested: 2, succeeded: 2, failed: 0 }, { passed: 2, cached: 2 }, ""],
    ["bazel-8/keep-going-actions", 1, { requested: 3, succeeded: 0, failed: 3 }, {}, "ROOT_CAUSE"],
    ["bazel-9/keep-going-actions", 1, { requested: 3, succeeded: 0, failed: 3 }, {}, "ROOT_CAUSE"],
    ["bazel-8/loading", 1, { requested: 0, succeeded: 0, failed: 0 }, {}, "no such package 'missing'"],
    ["bazel-9/loading", 1, { requested: 0, succeeded: 0, failed: 0 }, {}, "no such package 'missing'"],
    ["bazel-8/visibility", 1, { requested: 1, failed: 1 }, {}, "is not visible from"],
    ["bazel-9/visibility", 1, { requested: 1, failed: 1 }, {}, "is not visible from"],
    [
      "bazel-8/test-outcomes",
      3,
      { requested: 5, succeeded: 5, failed: 0 },
      { passed: 2, failed: 1, flaky: 1, incomplete: 1 },
      "//:fail failed",
    ],
  ])("%s", async (name, exitCode, targets, tests, cause) => {
    const { reduced, fault } = await reduce(path.join(fixtures, `${name}.bep`));
    expect(fault).toBe("");
    expect(reduced.isComplete).toBe(true);
    expect(reduced.exitCode).toBe(exitCode);
    expect(countTargets(reduced)).toMatchObject(targets);
    expect(countTests(reduced.tests)).toMatchObject(tests);
    expect(firstCause(reduced)).toContain(cause);
  });

  test("a file cut anywhere fails closed with what was readable", async () => {
    const whole = readFileSync(path.join(fixtures, "bazel-8/test-outcomes.bep"));
    const cut = path.join(scratch, "cut.bep");
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1 }), async (length) => {
        writeFileSync(cut, whole.subarray(0, length));
        const { reduced } = await reduce(cut);
        expect(reduced.isComplete).toBe(false);
        expect(countTests(reduced.tests).passed).toBeLessThanOrEqual(2);
      }),
      { numRuns: 40 },
    );
  });

  test("damaged bytes never throw and never make a failed build succeed", async () => {
    const whole = readFileSync(path.join(fixtures, "bazel-8/keep-going-actions.bep"));
    const damaged = path.join(scratch, "damaged.bep");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        async (changes) => {
          const bytes = Buffer.from(whole);
          for (const [at, value] of changes) bytes[at] = value;
          writeFileSync(damaged, bytes);
          const { reduced } = await reduce(damaged);
          expect(countTests(reduced.tests).passed).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a build that Bazel starts over counts once", async () => {
    const whole = readFileSync(path.join(fixtures, "bazel-8/test-outcomes.bep"));
    const twice = path.join(scratch, "twice.bep");
    writeFileSync(twice, Buffer.concat([whole, whole]));
    const { reduced } = await reduce(twice);
    expect(countTests(reduced.tests)).toMatchObject({ passed: 2, failed: 1, flaky: 1, incomplete: 1 });
  });

  test("files reached through sets that contain each other come once", async () => {
    const { reduced } = await reduce(path.join(fixtures, "synthetic/nested-out-of-order.bep"));
    const [target] = reduced.targets;
    const names = target === undefined ? [] : [...reduced.filesOf(target)].map((one) => one.name);
    expect(names.sort()).toEqual(["local.out", "remote.out"]);
  });
});
