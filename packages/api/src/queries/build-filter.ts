import type { Query, Range, Test, TextMatch } from "@millrace/base/query/query";
import { invocations } from "@millrace/db/schema/invocations";
import type { BuildField } from "@millrace/proto/build-fields";
import { and, inArray, or, type SQL, sql } from "drizzle-orm";
import { escapeLike } from "./label-filter.ts";

/**
 * A query about builds as a condition on `invocations`, all values parameters. It is true for the rows whose `buildRecord`
 * the query's matcher takes; a property test holds both to it. Undefined when the query restricts nothing.
 */
export function buildFilter(query: Query, nowMs: number): SQL | undefined {
  if (query.kind === "test") {
    const holds = testSql(query.test, nowMs);
    // Positive tests stay bare for the indexes; an unknown field fulfils the negation.
    return query.negated ? sql`(${holds}) is not true` : sql`(${holds})`;
  }
  const parts = query.of.map((part) => buildFilter(part, nowMs));
  return query.kind === "all" ? and(...parts) : or(...parts);
}

type FieldSql =
  | { readonly kind: "text" | "number" | "time"; readonly column: SQL }
  | { readonly kind: "texts"; readonly column: SQL }
  | { readonly kind: "status" };

const text = (column: unknown): FieldSql => ({ kind: "text", column: sql`${column}` });
const number = (column: unknown): FieldSql => ({ kind: "number", column: sql`${column}` });
const time = (column: unknown): FieldSql => ({ kind: "time", column: sql`${column}` });

const fields: Readonly<Record<BuildField, FieldSql>> = {
  status: { kind: "status" },
  user: text(invocations.user),
  host: text(invocations.host),
  command: text(invocations.command),
  branch: text(invocations.branch),
  commit: text(invocations.commit),
  repository: text(invocations.repositoryUrl),
  role: text(invocations.role),
  pattern: { kind: "texts", column: sql`${invocations.patterns}` },
  invocation: text(invocations.invocationId),
  build: text(invocations.buildId),
  tool: text(invocations.toolVersion),
  cpu: text(invocations.cpu),
  platform: text(invocations.platform),
  result: text(invocations.exitCodeName),
  exit: number(invocations.exitCode),
  attempt: number(invocations.attempt),
  duration: number(invocations.durationMs),
  cputime: number(invocations.cpuTimeMs),
  actions: number(invocations.actionsExecuted),
  targets: number(invocations.targetsTotal),
  "targets.failed": number(invocations.targetsFailed),
  tests: number(invocations.testsTotal),
  "tests.failed": number(invocations.testsFailed),
  "tests.flaky": number(invocations.testsFlaky),
  started: time(invocations.startedAt),
  finished: time(invocations.finishedAt),
  created: time(invocations.createdAt),
};

/** The columns in which free words are looked for; `build-record.ts` has the same. */
const freeText = sql`concat_ws(chr(10), ${invocations.user}, ${invocations.host}, ${invocations.command},
  ${invocations.branch}, ${invocations.commit}, ${invocations.repositoryUrl}, ${invocations.invocationId},
  array_to_string(${invocations.patterns}, chr(10)))`;

function testSql(test: Test, nowMs: number): SQL {
  // In the locale C only ASCII letters are folded, as `foldAscii` does.
  if (test.kind === "words") return sql`lower(${freeText} collate "C") like ${`%${escapeLike(test.text)}%`}`;
  const field = fields[test.field as BuildField];
  switch (test.kind) {
    case "has":
      return presence(field);
    case "choice":
      return statusSql(test.values);
    case "text":
      return ofTexts(field, (value) => anyOf(matchesSql(value, test.matches)));
    case "range":
      return anyOf(test.ranges.map((range) => rangeSql(field, { range, age: test.type === "age", nowMs })));
  }
}

function presence(field: FieldSql): SQL {
  if (field.kind === "status") return sql`true`;
  if (field.kind === "text" || field.kind === "texts") return ofTexts(field, (value) => sql`${value} <> ''`);
  return sql`${field.column} is not null`;
}

/** A status, or `flaky`, which stands beside it. */
function statusSql(values: readonly string[]): SQL {
  const statuses = values.filter(
    (value) => value !== "flaky",
  ) as (typeof invocations.status.enumValues)[number][];
  const parts = statuses.length === 0 ? [] : [inArray(invocations.status, statuses)];
  if (values.includes("flaky")) parts.push(sql`${invocations.testsFlaky} > 0`);
  return anyOf(parts);
}

function ofTexts(field: FieldSql, condition: (value: SQL) => SQL): SQL {
  if (field.kind === "texts")
    return sql`exists (select from unnest(${field.column}) one(value) where ${condition(sql`one.value`)})`;
  return field.kind === "text" ? condition(field.column) : sql`false`;
}

/** Nothing matches the empty text: it counts as no value. */
function matchesSql(value: SQL, matches: readonly TextMatch[]): SQL[] {
  const equal = matches.flatMap((match) => (match.kind === "equal" ? [match.text] : []));
  const others = matches.flatMap((match) => {
    if (match.kind === "equal") return [];
    const holds =
      match.kind === "glob"
        ? sql`${value} like ${match.parts.map(escapeLike).join("%")}`
        : sql`${value} collate "C" ~ ${match.source}`;
    return [sql`(${value} <> '' and ${holds})`];
  });
  if (equal.length === 1) return [sql`${value} = ${equal[0]}`, ...others];
  return equal.length === 0 ? others : [sql`${value} = any(${sql.param(equal)}::text[])`, ...others];
}

/** Times are stored to the microsecond and compared as whole milliseconds: ranges include their start and not their end. */
function rangeSql(field: FieldSql, of: { range: Range; age: boolean; nowMs: number }): SQL {
  if (field.kind !== "number" && field.kind !== "time") return sql`false`;
  const { from, to } = of.age ? timesOfAge(of.range, of.nowMs) : of.range;
  const value = (bound: number): SQL =>
    field.kind === "time"
      ? sql`${new Date(bound).toISOString()}::timestamptz`
      : sql`${String(bound)}::bigint`;
  const holds = and(
    from === undefined ? undefined : sql`${field.column} >= ${value(from)}`,
    to === undefined ? undefined : sql`${field.column} < ${value(to)}`,
  );
  return holds ?? sql`${field.column} is not null`;
}

/** An age of `from` up to below `to` is a time after `now - to` up to `now - from`. */
function timesOfAge(range: Range, nowMs: number): Range {
  return {
    ...(range.to !== undefined && { from: nowMs - range.to + 1 }),
    ...(range.from !== undefined && { to: nowMs - range.from + 1 }),
  };
}

function anyOf(parts: readonly SQL[]): SQL {
  return or(...parts) ?? sql`false`;
}
