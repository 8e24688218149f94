import type { IInvocationPatch, IRows, ITargetRow } from "@millrace/proto/pipeline";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import { mergeTargets } from "../merge-rows.ts";
import { targetRows } from "../rows.fixture.ts";
import { batchWork } from "../works.fixture.ts";

let bench: WriterBench;
let streams = 0;

beforeAll(async () => {
  bench = await writerBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

interface Part {
  readonly rows?: IRows;
  readonly undecoded?: number;
}

/** A stream of one event a part, its groups cut as given; the attempt's id. */
async function stream(
  groups: readonly (readonly Part[])[],
  options: { ends?: boolean } = {},
): Promise<number> {
  streams += 1;
  const of = { invocation: `stream ${streams}`, owner: "o", hmac: "h" };
  const parts = groups.flat();
  const [opened] = await bench.commit(batchWork({ ...of, first: 1, last: 1 }));
  const { attemptId } = (opened as { committed: { opened: { attemptId: number } } }).committed.opened;
  let sequence = 1;
  for (const group of groups) {
    const works = group.map((part) => {
      sequence += 1;
      const ends = (options.ends ?? false) && sequence === parts.length + 1;
      return batchWork({
        ...of,
        attemptId,
        first: sequence,
        last: sequence,
        ends,
        log: { firstByte: 10 * sequence, byteCount: 10, lines: sequence },
        ...part,
      });
    });
    for (const reply of await bench.commit(...works)) {
      expect(reply).toMatchObject({ committed: { partial: false } });
    }
  }
  return attemptId;
}

async function invocationOf(attemptId: number): Promise<Record<string, unknown> | undefined> {
  return bench.one("select * from invocations where attempt_id = $1", [attemptId]);
}

const targetText = `
select label, aspect, configuration, status, target_kind as "targetKind", test_size as "testSize", tags,
  failure_message as "failureMessage", abort_reason as "abortReason",
  (extract(epoch from completed_at) * 1000)::bigint as "completedAtMs"
from targets where attempt_id = $1`;

test("targets are merged by PostgreSQL as mergeTargets merges them, however they are cut into groups", async () => {
  const cuts = fc.array(fc.array(targetRows, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(cuts, async (groups) => {
      const attemptId = await stream(
        groups.map((group) => group.map((row) => ({ rows: { targets: [row] } }))),
      );
      const merged: ITargetRow = groups.flat().reduce(mergeTargets);
      const stored = await bench.one(targetText, [attemptId]);
      expect(stored).toEqual({ ...merged, tags: merged.tags?.length ? merged.tags : null });
    }),
    { numRuns: 25 },
  );
});

test("targets differ by label, aspect and configuration", async () => {
  const targets = [
    { label: "//a", configuration: "c" },
    { label: "//a", configuration: "d" },
    { label: "//a", aspect: "x", configuration: "c" },
    { label: "//b", configuration: "c" },
  ];
  const attemptId = await stream([[{ rows: { targets } }], [{ rows: { targets } }]]);
  expect(await bench.all("select 1 from targets where attempt_id = $1", [attemptId])).toHaveLength(4);
});

test("a patch names only what its event said", async () => {
  const first: IInvocationPatch = {
    command: "test",
    patterns: ["//a", "//b"],
    startedAtMs: 1_700_000_000_123,
  };
  const attemptId = await stream([
    [{ rows: { invocation: first } }, { rows: { invocation: { user: "u", exitCode: 0 } } }],
    [{ rows: { invocation: { branch: "main", exitCode: 3, patterns: [] } } }],
  ]);
  expect(await invocationOf(attemptId)).toMatchObject({
    command: "test",
    patterns: ["//a", "//b"],
    started_at: new Date(1_700_000_000_123).toISOString().replace("T", " ").replace("Z", "+00"),
    user_name: "u",
    branch: "main",
    exit_code: 3,
    status: "running",
  });
});

test("counts add up over batches and groups", async () => {
  const attemptId = await stream([[{ undecoded: 2 }, { undecoded: 3 }], [{ undecoded: 4 }], [{}]]);
  expect((await invocationOf(attemptId))?.undecoded_events).toBe(9);
});

test("the end brings status and totals from the rows as they stand", async () => {
  const targets = [
    { label: "//a", status: 4 },
    { label: "//b", status: 5 },
    { label: "//c", status: 1 },
    { label: "//b", aspect: "lint", status: 5 },
  ];
  const testSummaries = [0, 1, 1, 2, 3, 4].map((overallStatus, index) => ({
    label: `//t${index}`,
    overallStatus,
  }));
  const attemptId = await stream(
    [[{ rows: { targets } }, { rows: { testSummaries } }], [{ rows: { invocation: { exitCode: 3 } } }]],
    { ends: true },
  );
  const row = await invocationOf(attemptId);
  expect(row).toMatchObject({
    status: "failed",
    event_count: 4,
    log_bytes: 50,
    log_lines: 4,
    targets_total: 3,
    targets_failed: 1,
    tests_total: 6,
    tests_passed: 2,
    tests_flaky: 1,
    tests_failed: 2,
  });
  expect(row?.ended_at).not.toBeNull();
  const fact = await bench.one(
    "select event from outbox where event ->> 'type' = 'millrace.invocation.finished' order by id desc limit 1",
  );
  expect(fact?.event).toMatchObject({ data: { status: "failed", exitCode: 3, lastEventSeq: 4, attempt: 1 } });
});

test.each<[string, IInvocationPatch]>([
  ["succeeded", { exitCode: 0, exitCodeName: "SUCCESS" }],
  ["interrupted", { exitCode: 8 }],
  ["interrupted", { exitCode: 130, exitCodeName: "INTERRUPTED" }],
  ["failed", { exitCode: 1, exitCodeName: "BUILD_FAILURE" }],
  ["aborted", {}],
])("%s is the status of %j", async (status, invocation) => {
  const attemptId = await stream([[{ rows: { invocation } }]], { ends: true });
  expect((await invocationOf(attemptId))?.status).toBe(status);
});

test("test results differ by run, shard and attempt, and the later one says more", async () => {
  const result = { label: "//t", run: 1, shard: 2, attempt: 1 };
  const testResults = [
    { ...result, status: 4, exitCode: 1, strategy: "local" },
    { ...result, attempt: 2, status: 1, cachedLocally: true },
    { ...result, status: 3, outputs: [{ name: "test.log", uri: "file:///log" }] },
  ];
  const attemptId = await stream([
    [{ rows: { testResults } }],
    [{ rows: { testResults: testResults.slice(2) } }],
  ]);
  const stored = await bench.all(
    "select attempt, status, exit_code, strategy, cached_locally, outputs from test_results where attempt_id = $1 order by attempt",
    [attemptId],
  );
  expect(stored).toEqual([
    {
      attempt: 1,
      status: 3,
      exit_code: 1,
      strategy: "local",
      cached_locally: false,
      outputs: [{ name: "test.log", uri: "file:///log" }],
    },
    { attempt: 2, status: 1, exit_code: null, strategy: null, cached_locally: true, outputs: null },
  ]);
});
