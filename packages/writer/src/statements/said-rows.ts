import type {
  IActionCountRow,
  IActionRow,
  IConfigurationRow,
  IFetchRow,
  IProblemRow,
  ITestProgressRow,
  IUnknownRow,
} from "@millrace/proto/pipeline";
import type { DerivedRows, DerivedTable } from "../derived-tables.ts";
import type { OfAttempt } from "../store.ts";
import { upsertDetails, upsertMetrics } from "./attempt-rows.ts";
import { arrayLiteral, type ColumnStatement } from "./column-statement.ts";

/** Statements for the tables of derived-tables.ts; each follows the law of its table. */

const insertActions: ColumnStatement<OfAttempt<IActionRow>> = {
  text: `
insert into actions (attempt_id, sequence, success, label, configuration, mnemonic, primary_output, exit_code,
  failure_message, failure_category, failure_code, started_at, ended_at, stdout_uri, stderr_uri, command_line)
select attempt_id, sequence, success = 1, label, configuration, mnemonic, primary_output, exit_code,
  failure_message, failure_category, failure_code, to_timestamp(started_at_ms / 1000.0),
  to_timestamp(ended_at_ms / 1000.0), stdout_uri, stderr_uri, command_line::text[]
from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
    $9::text[], $10::int[], $11::int[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[])
  r(attempt_id, sequence, success, label, configuration, mnemonic, primary_output, exit_code, failure_message,
    failure_category, failure_code, started_at_ms, ended_at_ms, stdout_uri, stderr_uri, command_line)
order by attempt_id, sequence`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.sequence ?? 0,
    row.success ? 1 : 0,
    row.label,
    row.configuration,
    row.mnemonic,
    row.primaryOutput,
    row.exitCode,
    row.failureMessage,
    row.failureCategory,
    row.failureCode,
    row.startedAtMs,
    row.endedAtMs,
    row.stdoutUri,
    row.stderrUri,
    arrayLiteral(row.commandLine),
  ],
};

const countActions: ColumnStatement<OfAttempt<IActionCountRow>> = {
  text: `
insert into action_counts as t (attempt_id, mnemonic, succeeded, failed, duration_ms)
select attempt_id, mnemonic, succeeded, failed, duration_ms
from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
  r(attempt_id, mnemonic, succeeded, failed, duration_ms)
order by attempt_id, mnemonic
on conflict (attempt_id, mnemonic) do update set
  succeeded = t.succeeded + excluded.succeeded,
  failed = t.failed + excluded.failed,
  duration_ms = t.duration_ms + excluded.duration_ms`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.mnemonic ?? "",
    row.succeeded ?? 0,
    row.failed ?? 0,
    row.durationMs ?? 0,
  ],
};

const upsertConfigurations: ColumnStatement<OfAttempt<IConfigurationRow>> = {
  text: `
insert into configurations as t (attempt_id, id, mnemonic, platform, cpu, is_tool, make_variables)
select attempt_id, id, mnemonic, platform, cpu, is_tool = 1, make_variables::jsonb
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[])
  r(attempt_id, id, mnemonic, platform, cpu, is_tool, make_variables)
order by attempt_id, id
on conflict (attempt_id, id) do update set
  mnemonic = coalesce(excluded.mnemonic, t.mnemonic),
  platform = coalesce(excluded.platform, t.platform),
  cpu = coalesce(excluded.cpu, t.cpu),
  is_tool = excluded.is_tool,
  make_variables = coalesce(excluded.make_variables, t.make_variables)`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.id ?? "",
    row.mnemonic,
    row.platform,
    row.cpu,
    row.isTool ? 1 : 0,
    row.makeVariables,
  ],
};

const insertProblems: ColumnStatement<OfAttempt<IProblemRow>> = {
  text: `
insert into problems (attempt_id, sequence, kind, subject, configuration, reason, description)
select attempt_id, sequence, kind, subject, configuration, reason, description
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
  r(attempt_id, sequence, kind, subject, configuration, reason, description)
order by attempt_id, sequence`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.sequence ?? 0,
    row.kind ?? "",
    row.subject,
    row.configuration,
    row.reason ?? "",
    row.description,
  ],
};

const insertFetches: ColumnStatement<OfAttempt<IFetchRow>> = {
  text: `
insert into fetches (attempt_id, sequence, url, downloader, success)
select attempt_id, sequence, url, downloader, success = 1
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::int[], $5::int[])
  r(attempt_id, sequence, url, downloader, success)
order by attempt_id, sequence`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.sequence ?? 0,
    row.url ?? "",
    row.downloader ?? 0,
    row.success ? 1 : 0,
  ],
};

const upsertTestProgress: ColumnStatement<OfAttempt<ITestProgressRow>> = {
  text: `
insert into test_progress as t (attempt_id, label, configuration, run, shard, attempt, opaque_count, uri)
select attempt_id, label, configuration, run, shard, attempt, opaque_count, uri
from unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::text[])
  r(attempt_id, label, configuration, run, shard, attempt, opaque_count, uri)
order by attempt_id, label, configuration, run, shard, attempt
on conflict (attempt_id, label, configuration, run, shard, attempt) do update set
  opaque_count = excluded.opaque_count, uri = excluded.uri
where excluded.opaque_count >= t.opaque_count`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.label ?? "",
    row.configuration ?? "",
    row.run ?? 0,
    row.shard ?? 0,
    row.attempt ?? 0,
    row.opaqueCount ?? 0,
    row.uri ?? "",
  ],
};

const countUnknowns: ColumnStatement<OfAttempt<IUnknownRow>> = {
  text: `
insert into unknowns as t (attempt_id, what, events)
select attempt_id, what, events from unnest($1::bigint[], $2::text[], $3::bigint[]) r(attempt_id, what, events)
order by attempt_id, what
on conflict (attempt_id, what) do update set events = t.events + excluded.events`,
  columns: ({ attemptId, row }) => [attemptId, row.what ?? "", row.events ?? 0],
};

export const derivedStatements: {
  readonly [T in DerivedTable]: ColumnStatement<OfAttempt<DerivedRows[T]>>;
} = {
  actions: insertActions,
  actionCounts: countActions,
  configurations: upsertConfigurations,
  metrics: upsertMetrics,
  details: upsertDetails,
  problems: insertProblems,
  fetches: insertFetches,
  testProgress: upsertTestProgress,
  unknowns: countUnknowns,
};
