import { Rows } from "@millrace/proto/pipeline";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import { batchWork } from "../works.fixture.ts";

let bench: WriterBench;
let tests = 0;

beforeAll(async () => {
  bench = await writerBench();
});
afterAll(() => bench[Symbol.asyncDispose]());
beforeEach(() => {
  tests += 1;
});

/** First batch of stream `name`; each test has streams of its own. */
function first(name: string, rows = {}) {
  return batchWork({ invocation: `${tests} ${name}`, owner: name, hmac: name, first: 1, last: 3, rows });
}

async function storedOf(name: string): Promise<unknown> {
  return bench.one(
    `select i.partial, p.last_event_seq,
       (select count(*) from event_segments e where e.attempt_id = i.attempt_id) as segments,
       (select count(*) from targets t where t.attempt_id = i.attempt_id) as targets
     from invocations i join stream_positions p using (attempt_id) where i.invocation_id = $1`,
    [`${tests} ${name}`],
  );
}

/** A row that no column can take: 2^60 as milliseconds is behind PostgreSQL's calendar. */
const poison = { targets: [{ label: "//bad", completedAtMs: 2 ** 60 }] };
const fine = { targets: [{ label: "//fine", status: 4 }] };

test("a batch with a row that cannot be stored is committed without its rows; its neighbours are whole", async () => {
  const replies = await bench.commit(
    first("a", fine),
    first("b", fine),
    first("c", poison),
    first("d", fine),
  );
  const whole = { committed: { lastSequence: 3, partial: false } };
  expect(replies).toMatchObject([whole, whole, { committed: { lastSequence: 3, partial: true } }, whole]);
  const neighbour = { partial: false, last_event_seq: 3, segments: 1, targets: 1 };
  for (const name of ["a", "b", "d"]) expect(await storedOf(name)).toEqual(neighbour);
  expect(await storedOf("c")).toEqual({ partial: true, last_event_seq: 3, segments: 1, targets: 0 });
});

test("its dead letter says why and holds the rows", async () => {
  await bench.commit(first("a", poison));
  const letter = await bench.one(
    `select attempt_id is not null as attempt, first_seq, last_seq, outcome, sql_state, cause, rows
     from dead_letters where invocation_id = $1`,
    [`${tests} a`],
  );
  expect(letter).toMatchObject({
    attempt: true,
    first_seq: 1,
    last_seq: 3,
    outcome: "partial",
    sql_state: "22008",
  });
  expect(letter?.cause).toContain("out of range");
  const rows = Rows.decode(letter?.rows as Uint8Array);
  expect(rows.targets).toMatchObject([{ label: "//bad", completedAtMs: 2 ** 60 }]);
});

test("several guilty ones are each found", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const guilty = new Set(["b", "c", "g"]);
  const replies = await bench.commit(...names.map((name) => first(name, guilty.has(name) ? poison : fine)));
  for (const [index, name] of names.entries()) {
    expect(replies[index]).toMatchObject({ committed: { partial: guilty.has(name) } });
  }
});

test("a guilty batch in the middle of a stream does not stop the stream", async () => {
  const stream = { invocation: `${tests} a`, owner: "a", hmac: "a" };
  const [opened] = await bench.commit(batchWork({ ...stream, first: 1, last: 2 }));
  const { attemptId } = (opened as { committed: { opened: { attemptId: number } } }).committed.opened;
  const next = [3, 5, 7].map((from) =>
    batchWork({ ...stream, attemptId, first: from, last: from + 1, rows: from === 5 ? poison : fine }),
  );
  const replies = await bench.commit(...next);
  expect(replies).toMatchObject([
    { committed: { partial: false } },
    { committed: { partial: true } },
    { committed: { partial: false } },
  ]);
  expect(await storedOf("a")).toEqual({ partial: true, last_event_seq: 8, segments: 4, targets: 1 });
});

test("NUL in any text is stored visibly, with nothing left out", async () => {
  const rows = {
    targets: [{ label: "//a\u0000", tags: ["x\u0000y"], failureMessage: "\u0000" }],
    testResults: [{ label: "//a", outputs: [{ name: "log\u0000", uri: "file:\u0000\ud800" }] }],
    invocation: { command: "bu\u0000ild", patterns: ["//\u0000..."] },
  };
  expect(await bench.commit(first("a", rows))).toMatchObject([{ committed: { partial: false } }]);
  const stored = await bench.one(
    `select i.command, i.patterns, t.label, t.tags, r.outputs
     from invocations i join targets t using (attempt_id) join test_results r using (attempt_id)
     where i.invocation_id = $1`,
    [`${tests} a`],
  );
  expect(stored).toEqual({
    command: "bu\ufffdild",
    patterns: ["//\ufffd..."],
    label: "//a\ufffd",
    tags: ["x\ufffdy"],
    outputs: [{ name: "log\ufffd", uri: "file:\ufffd\ufffd" }],
  });
});

test("a key too long for an index costs its batch the rows", async () => {
  const label = Array.from({ length: 5_000 }, (_, index) =>
    String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000)),
  );
  const [reply] = await bench.commit(first("a", { targets: [{ label: label.join("") }] }));
  expect(reply).toMatchObject({ committed: { partial: true } });
  expect(
    await bench.one("select sql_state from dead_letters where invocation_id = $1", [`${tests} a`]),
  ).toEqual({
    sql_state: "54000",
  });
});

test("what cannot be stored even without its rows is rejected, and written down", async () => {
  await bench.one("alter table event_segments add constraint no_thirteen check (first_seq <> 13) not valid");
  const stream = { invocation: `${tests} a`, owner: "a", hmac: "a" };
  const [opened] = await bench.commit(batchWork({ ...stream, first: 1, last: 12 }));
  const { attemptId } = (opened as { committed: { opened: { attemptId: number } } }).committed.opened;
  const replies = await bench.commit(
    batchWork({ ...stream, attemptId, first: 13, last: 14, rows: fine }),
    first("b", fine),
  );
  expect(replies).toMatchObject([
    { rejected: { message: expect.stringContaining("no_thirteen") } },
    { committed: { partial: false } },
  ]);
  expect(
    await bench.one("select outcome, sql_state from dead_letters where invocation_id = $1", [`${tests} a`]),
  ).toEqual({ outcome: "rejected", sql_state: "23514" });
  expect(await storedOf("a")).toEqual({ partial: false, last_event_seq: 12, segments: 1, targets: 0 });
});

test("without the schema nothing is rejected: works wait until it is there again", async () => {
  await bench.one("alter table event_segments rename to event_segments_away");
  try {
    expect(await bench.commit(first("a", fine), first("b"))).toEqual(["busy", "busy"]);
  } finally {
    await bench.one("alter table event_segments_away rename to event_segments");
  }
  expect(await bench.commit(first("a", fine))).toMatchObject([{ committed: { partial: false } }]);
});

test("no row has lost its attempt", async () => {
  const tables = [
    "invocations",
    "targets",
    "test_results",
    "test_summaries",
    "event_segments",
    "log_segments",
  ];
  for (const table of tables) {
    const orphans = await bench.all(
      `select attempt_id from ${table} where attempt_id not in (select attempt_id from stream_positions)`,
    );
    expect(orphans).toEqual([]);
  }
  expect(
    await bench.all("select attempt_id from stream_positions except select attempt_id from invocations"),
  ).toEqual([]);
});
