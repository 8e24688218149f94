import type { ITargetRow, ITestResultRow, ITestSummaryRow } from "@millrace/proto/pipeline";
import type { OfAttempt } from "../store.ts";
import { hexOrNull } from "./attempt-rows.ts";
import { arrayLiteral, type ColumnStatement, storableJson } from "./column-statement.ts";

/** Upserts of normalised rows. Each follows the law of its function in merge-rows.ts. */

export const upsertTargets: ColumnStatement<OfAttempt<ITargetRow>> = {
  text: `
insert into targets as t (attempt_id, label, aspect, configuration, status, target_kind, test_size, tags,
  failure_message, abort_reason, completed_at, outputs_seq, test_timeout_ms, overall_success, overall_test_status)
select attempt_id, label, aspect, configuration, status, target_kind, test_size, tags::text[],
  failure_message, abort_reason, to_timestamp(completed_at_ms / 1000.0), outputs_seq, test_timeout_ms,
  overall_success = 1, overall_test_status
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::int[], $8::text[],
    $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::int[], $15::int[])
  r(attempt_id, label, aspect, configuration, status, target_kind, test_size, tags, failure_message,
    abort_reason, completed_at_ms, outputs_seq, test_timeout_ms, overall_success, overall_test_status)
order by attempt_id, label, aspect, configuration
on conflict (attempt_id, label, aspect, configuration) do update set
  status = greatest(excluded.status, t.status),
  target_kind = coalesce(excluded.target_kind, t.target_kind),
  test_size = coalesce(excluded.test_size, t.test_size),
  tags = coalesce(excluded.tags, t.tags),
  outputs_seq = coalesce(excluded.outputs_seq, t.outputs_seq),
  test_timeout_ms = coalesce(excluded.test_timeout_ms, t.test_timeout_ms),
  overall_success = coalesce(excluded.overall_success, t.overall_success),
  overall_test_status = coalesce(excluded.overall_test_status, t.overall_test_status),
  failure_message = case when excluded.status > t.status then excluded.failure_message
    when excluded.status = t.status then coalesce(excluded.failure_message, t.failure_message)
    else t.failure_message end,
  abort_reason = case when excluded.status > t.status then excluded.abort_reason
    when excluded.status = t.status then coalesce(excluded.abort_reason, t.abort_reason)
    else t.abort_reason end,
  completed_at = case when excluded.status > t.status then excluded.completed_at
    when excluded.status = t.status then coalesce(excluded.completed_at, t.completed_at)
    else t.completed_at end`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.label ?? "",
    row.aspect ?? "",
    row.configuration ?? "",
    row.status ?? 0,
    row.targetKind,
    row.testSize,
    arrayLiteral(row.tags),
    row.failureMessage,
    row.abortReason,
    row.completedAtMs,
    row.outputsSequence,
    row.testTimeoutMs,
    typeof row.overallSuccess === "boolean" ? Number(row.overallSuccess) : null,
    row.overallTestStatus,
  ],
};

export const upsertTestResults: ColumnStatement<OfAttempt<ITestResultRow>> = {
  text: `
insert into test_results as t (attempt_id, label, configuration, run, shard, attempt, status, status_details,
  started_at, duration_ms, cached_locally, cached_remotely, strategy, exit_code, outputs, hostname, warnings,
  execution_info)
select attempt_id, label, configuration, run, shard, attempt, status, status_details,
  to_timestamp(started_at_ms / 1000.0), duration_ms, cached_locally = 1, cached_remotely = 1, strategy,
  exit_code, outputs::jsonb, hostname, warnings::text[], decode(execution_info, 'hex')
from unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::text[],
    $9::bigint[], $10::bigint[], $11::int[], $12::int[], $13::text[], $14::int[], $15::text[],
    $16::text[], $17::text[], $18::text[])
  r(attempt_id, label, configuration, run, shard, attempt, status, status_details, started_at_ms, duration_ms,
    cached_locally, cached_remotely, strategy, exit_code, outputs, hostname, warnings, execution_info)
order by attempt_id, label, configuration, run, shard, attempt
on conflict (attempt_id, label, configuration, run, shard, attempt) do update set
  status = excluded.status,
  status_details = coalesce(excluded.status_details, t.status_details),
  started_at = coalesce(excluded.started_at, t.started_at),
  duration_ms = coalesce(excluded.duration_ms, t.duration_ms),
  cached_locally = excluded.cached_locally,
  cached_remotely = excluded.cached_remotely,
  strategy = coalesce(excluded.strategy, t.strategy),
  exit_code = coalesce(excluded.exit_code, t.exit_code),
  outputs = coalesce(excluded.outputs, t.outputs),
  hostname = coalesce(excluded.hostname, t.hostname),
  warnings = coalesce(excluded.warnings, t.warnings),
  execution_info = coalesce(excluded.execution_info, t.execution_info)`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.label ?? "",
    row.configuration ?? "",
    row.run ?? 0,
    row.shard ?? 0,
    row.attempt ?? 0,
    row.status ?? 0,
    row.statusDetails,
    row.startedAtMs,
    row.durationMs,
    row.cachedLocally ? 1 : 0,
    row.cachedRemotely ? 1 : 0,
    row.strategy,
    row.exitCode,
    outputsJson(row),
    row.hostname,
    arrayLiteral(row.warnings),
    hexOrNull(row.executionInfo),
  ],
};

export const upsertTestSummaries: ColumnStatement<OfAttempt<ITestSummaryRow>> = {
  text: `
insert into test_summaries as t (attempt_id, label, configuration, overall_status, total_run_count, run_count,
  attempt_count, shard_count, total_num_cached, first_start_at, last_stop_at, total_run_duration_ms)
select attempt_id, label, configuration, overall_status, total_run_count, run_count, attempt_count, shard_count,
  total_num_cached, to_timestamp(first_start_at_ms / 1000.0), to_timestamp(last_stop_at_ms / 1000.0),
  total_run_duration_ms
from unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
    $9::int[], $10::bigint[], $11::bigint[], $12::bigint[])
  r(attempt_id, label, configuration, overall_status, total_run_count, run_count, attempt_count, shard_count,
    total_num_cached, first_start_at_ms, last_stop_at_ms, total_run_duration_ms)
order by attempt_id, label, configuration
on conflict (attempt_id, label, configuration) do update set
  overall_status = excluded.overall_status,
  total_run_count = excluded.total_run_count,
  run_count = excluded.run_count,
  attempt_count = excluded.attempt_count,
  shard_count = excluded.shard_count,
  total_num_cached = excluded.total_num_cached,
  first_start_at = coalesce(excluded.first_start_at, t.first_start_at),
  last_stop_at = coalesce(excluded.last_stop_at, t.last_stop_at),
  total_run_duration_ms = coalesce(excluded.total_run_duration_ms, t.total_run_duration_ms)`,
  columns: ({ attemptId, row }) => [
    attemptId,
    row.label ?? "",
    row.configuration ?? "",
    row.overallStatus ?? 0,
    row.totalRunCount ?? 0,
    row.runCount ?? 0,
    row.attemptCount ?? 0,
    row.shardCount ?? 0,
    row.totalNumCached ?? 0,
    row.firstStartAtMs,
    row.lastStopAtMs,
    row.totalRunDurationMs,
  ],
};

function outputsJson(row: ITestResultRow): string | null {
  if (!row.outputs || row.outputs.length === 0) return null;
  return storableJson(row.outputs.map(({ name, uri }) => ({ name: name ?? "", uri: uri ?? "" })));
}
