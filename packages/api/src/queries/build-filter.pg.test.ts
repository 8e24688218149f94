import { matcherOf } from "@millrace/base/query/match-query";
import { parseQuery } from "@millrace/base/query/parse-query";
import type { Query } from "@millrace/base/query/query";
import { connect, type Database } from "@millrace/db/connect";
import { invocationStatuses, invocations } from "@millrace/db/schema/invocations";
import { buildFields, buildStatusChoices } from "@millrace/proto/build-fields";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { buildRecord } from "../query/build-record.ts";
import { buildFilter } from "./build-filter.ts";

let store: TestDatabase;
let database: Database;
let rows: (typeof invocations.$inferSelect)[];

const nowMs = Date.parse("2026-12-01T12:00:00.500Z");

/** Few letters, so that random texts and random queries meet; case, accents, two code units, wildcards, line feeds. */
const letters = [
  "a",
  "A",
  "b",
  "B",
  "é",
  "É",
  "ß",
  "İ",
  "ı",
  "😀",
  "%",
  "_",
  "*",
  "\\",
  "/",
  ".",
  "-",
  " ",
  "\n",
  "1",
  '"',
  ",",
  "(",
];
const words = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("main", "Main", "release/1", "ann", "al", "ALAN", "//app/...") },
  {
    weight: 4,
    arbitrary: fc.array(fc.constantFrom(...letters), { maxLength: 5 }).map((parts) => parts.join("")),
  },
);
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 3 });
/** Milliseconds and microseconds around the moment of asking. */
const instants = fc
  .tuple(
    fc.constantFrom(0, 1, 999, 1_000, 60_000, 86_400_000, 172_800_000),
    fc.integer({ min: -2, max: 2 }),
    fc.integer({ min: 0, max: 999 }),
  )
  .map(([age, ms, micros]) => {
    const text = new Date(nowMs - age + ms).toISOString();
    return `${text.slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
  });
const counts = fc.oneof(fc.integer({ min: -1, max: 6 }), fc.constantFrom(100, 2_147_483_647));

const rowArbitrary = fc.record({
  status: fc.constantFrom(...invocationStatuses),
  buildId: words,
  user: maybe(words),
  host: maybe(words),
  command: maybe(fc.constantFrom("build", "test", "Test", "")),
  branch: maybe(words),
  commit: maybe(words),
  repositoryUrl: maybe(words),
  role: maybe(words),
  patterns: maybe(fc.array(words, { maxLength: 3 })),
  exitCode: maybe(counts),
  exitCodeName: maybe(words),
  cpu: maybe(words),
  testsTotal: maybe(counts),
  testsFlaky: maybe(counts),
  actionsExecuted: maybe(counts),
  cpuTimeMs: maybe(counts),
  createdAt: instants,
  startedAt: maybe(instants),
  finishedAt: maybe(instants),
  endedAt: maybe(instants),
});

beforeAll(async () => {
  store = await freshDatabase();
  database = connect({ url: store.url, max: 2, name: "query-test" });
  const values = fc.sample(rowArbitrary, { numRuns: 300, seed: 20_261_201 });
  for (const [at, value] of values.entries()) {
    const at_ = (text: string | null) => (text === null ? null : sql`${text}::timestamptz`);
    await database.orm.insert(invocations).values({
      ...value,
      attemptId: at + 1,
      projectId: "default",
      invocationId: `${value.buildId}-${at}`,
      attempt: 1,
      createdAt: sql`${value.createdAt}::timestamptz`,
      startedAt: at_(value.startedAt),
      finishedAt: at_(value.finishedAt),
      endedAt: at_(value.endedAt),
    });
  }
  rows = await database.orm.select().from(invocations).orderBy(invocations.attemptId);
});
afterAll(async () => {
  await database.close();
  await store.drop();
});

async function bySql(query: Query): Promise<number[]> {
  const found = await database.orm
    .select({ id: invocations.attemptId })
    .from(invocations)
    .where(buildFilter(query, nowMs))
    .orderBy(invocations.attemptId);
  return found.map((row) => row.id);
}

function inMemory(query: Query): number[] {
  const matches = matcherOf(query);
  return rows.filter((row) => matches(buildRecord(row), nowMs)).map((row) => row.attemptId);
}

const quotedText = (text: string) => `"${text.replace(/["\\]/g, (char) => `\\${char}`)}"`;
const plainText = (text: string) => text.replace(/[\s,()"]/gu, "") || "x";

/** Pieces of regular expressions, put together so that many are valid and some are not. */
const regexes = fc
  .array(
    fc.constantFrom(
      "a",
      "A",
      "b",
      "é",
      "😀",
      ".",
      ".*",
      "[aB]",
      "[^a]",
      "[a-é]",
      "[^\\d]",
      "(a|B)",
      "(?:ab)?",
      "a{1,2}",
      "\\.",
      "\\w+",
      "\\W",
      "\\s",
      "\\D",
      "^",
      "$",
      "|",
      "\\/",
      "%",
      "_",
      "[\\]x-]",
      "(a*)*",
      "\\n",
    ),
    { minLength: 1, maxLength: 4 },
  )
  .chain((parts) => fc.constantFrom("", "i").map((flag) => `/${parts.join("")}/${flag}`));

const durations = fc.constantFrom("0s", "1ms", "999ms", "1s", "1m", "1d", "2d", "1d1ms", "1.5h", "1h30m");
const numbers = fc.integer({ min: -1, max: 6 }).map(String);
const dates = fc.constantFrom(
  "2026-12-01",
  "2026-11-29",
  "2026-11-30T12:00Z",
  "2026-12-01T12:00:00Z",
  "2026-12-01T12:00:00.500Z",
  "2026-12-01T13:00+01:00",
);
const operators = fc.constantFrom("", ">", ">=", "<", "<=", "=");

function compared(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const single = fc.tuple(operators, values).map(([operator, value]) => operator + value);
  const range = fc.tuple(fc.option(values, { nil: "*" }), values).map(([low, high]) => `${low}..${high}`);
  return fc.oneof({ weight: 3, arbitrary: single }, range);
}

const textValues = fc.oneof(
  words.map((word) => quotedText(word || "x")),
  words.map(plainText),
  fc.tuple(words, words).map(([a, b]) => `${plainText(a)}*${plainText(b).slice(1)}`),
  regexes,
);

const claims: fc.Arbitrary<string> = fc.oneof(
  ...buildFields.map((field) => {
    const values = {
      text: textValues,
      choice: fc.constantFrom(...buildStatusChoices),
      number: compared(numbers),
      duration: compared(durations),
      time: fc.oneof(
        compared(dates),
        fc.tuple(fc.constantFrom("<", "<=", ">", ">="), durations).map((parts) => parts.join("")),
      ),
    }[field.kind];
    return fc.array(values, { minLength: 1, maxLength: 3 }).map((some) => `${field.name}:${some.join(",")}`);
  }),
  fc.constantFrom(...buildFields).map((field) => `has:${field.name}`),
  words.map((word) => quotedText(word || "x")),
  words.map(plainText),
);

const { query: queries } = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: claims },
    fc.tuple(fc.constantFrom("-", "NOT ", "!"), claims).map((parts) => parts.join("")),
    fc
      .tuple(tie("query"), fc.constantFrom(" ", " AND ", " OR "), tie("query"))
      .map((parts) => parts.join("")),
    tie("query").map((inner) => `(${inner})`),
    tie("query").map((inner) => `-(${inner})`),
  ),
}));

test("a query finds the same builds in the database and in memory", async () => {
  let asked = 0;
  let telling = 0;
  await fc.assert(
    fc.asyncProperty(queries, async (text) => {
      const parsed = parseQuery(text, buildFields);
      if (parsed.kind === "fault") return;
      const found = await bySql(parsed.query);
      expect(inMemory(parsed.query)).toEqual(found);
      asked += 1;
      if (found.length > 0 && found.length < rows.length) telling += 1;
    }),
    { numRuns: 300 },
  );
  // Queries that are refused, find nothing or find everything would prove little.
  expect(asked).toBeGreaterThan(100);
  expect(telling).toBeGreaterThan(asked / 4);
});

test("a regular expression means the same to both, or is refused", async () => {
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(regexes, fc.constantFrom("user", "pattern", "branch"), async (regex, field) => {
      const parsed = parseQuery(`${field}:${regex}`, buildFields);
      if (parsed.kind === "fault") return;
      asked += 1;
      expect(inMemory(parsed.query)).toEqual(await bySql(parsed.query));
    }),
    { numRuns: 250 },
  );
  expect(asked).toBeGreaterThan(100);
});

test("a claim and its negation divide the builds", async () => {
  await fc.assert(
    fc.asyncProperty(claims, async (claim) => {
      const [yes, no] = [parseQuery(claim, buildFields), parseQuery(`-(${claim})`, buildFields)];
      if (yes.kind === "fault" || no.kind === "fault") return;
      const [found, others] = [await bySql(yes.query), await bySql(no.query)];
      expect([...found, ...others].sort((a, b) => a - b)).toEqual(rows.map((row) => row.attemptId));
    }),
    { numRuns: 60 },
  );
});
