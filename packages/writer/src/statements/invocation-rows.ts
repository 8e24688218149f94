import type { Executor } from "@millrace/db/connect";
import type { InvocationStatus } from "@millrace/db/schema/invocations";
import type { AttemptSummary, InvocationChange, InvocationEnd } from "../store.ts";
import { type AnswerRow, arrayLiteral, type ColumnStatement, runColumns } from "./column-statement.ts";

/** Build, workspace status and so on: written when an event says something new, never once a batch. */
export const patchInvocations: ColumnStatement<InvocationChange> = {
  text: `
update invocations i set
  partial = i.partial or p.partial = 1,
  undecoded_events = i.undecoded_events + p.undecoded,
  command = coalesce(p.command, i.command),
  tool_version = coalesce(p.tool_version, i.tool_version),
  started_at = coalesce(to_timestamp(p.started_at_ms / 1000.0), i.started_at),
  finished_at = coalesce(to_timestamp(p.finished_at_ms / 1000.0), i.finished_at),
  exit_code = coalesce(p.exit_code, i.exit_code),
  exit_code_name = coalesce(p.exit_code_name, i.exit_code_name),
  failure_message = coalesce(p.failure_message, i.failure_message),
  user_name = coalesce(p.user_name, i.user_name),
  host_name = coalesce(p.host_name, i.host_name),
  workspace_directory = coalesce(p.workspace_directory, i.workspace_directory),
  working_directory = coalesce(p.working_directory, i.working_directory),
  patterns = coalesce(p.patterns::text[], i.patterns),
  branch = coalesce(p.branch, i.branch),
  commit_sha = coalesce(p.commit_sha, i.commit_sha),
  repository_url = coalesce(p.repository_url, i.repository_url),
  role = coalesce(p.role, i.role),
  cpu = coalesce(p.cpu, i.cpu),
  platform = coalesce(p.platform, i.platform),
  actions_executed = coalesce(p.actions_executed, i.actions_executed),
  wall_time_ms = coalesce(p.wall_time_ms, i.wall_time_ms),
  cpu_time_ms = coalesce(p.cpu_time_ms, i.cpu_time_ms),
  abort_reason = coalesce(p.abort_reason, i.abort_reason)
from unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::int[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
    $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[], $23::bigint[],
    $24::bigint[], $25::text[])
  p(attempt_id, partial, undecoded, command, tool_version, started_at_ms, finished_at_ms, exit_code,
    exit_code_name, failure_message, user_name, host_name, workspace_directory, working_directory, patterns,
    branch, commit_sha, repository_url, role, cpu, platform, actions_executed, wall_time_ms, cpu_time_ms,
    abort_reason)
where i.attempt_id = p.attempt_id`,
  columns: ({ attemptId, patch, undecoded, partial }) => [
    attemptId,
    partial ? 1 : 0,
    undecoded,
    patch.command,
    patch.toolVersion,
    patch.startedAtMs,
    patch.finishedAtMs,
    patch.exitCode,
    patch.exitCodeName,
    patch.failureMessage,
    patch.user,
    patch.host,
    patch.workspaceDirectory,
    patch.workingDirectory,
    arrayLiteral(patch.patterns),
    patch.branch,
    patch.commit,
    patch.repositoryUrl,
    patch.role,
    patch.cpu,
    patch.platform,
    patch.actionsExecuted,
    patch.wallTimeMs,
    patch.cpuTimeMs,
    patch.abortReason,
  ],
};

/**
 * The final status of an attempt `i`, from its exit code first; `otherwise` when no BuildFinished was stored.
 * 8 is Bazel's INTERRUPTED.
 */
function finalStatus(otherwise: InvocationStatus): string {
  return `case
    when i.exit_code = 0 then 'succeeded'
    when i.exit_code_name = 'INTERRUPTED' or i.exit_code = 8 then 'interrupted'
    when i.exit_code is not null then 'failed'
    else '${otherwise}' end`;
}

/**
 * Totals of an attempt `i`. Aspects of a target are not counted beside it. A test has failed when it neither
 * passed (1), was flaky (2) nor has no status (0): all other `TestStatus` values are kinds of failure.
 */
const totals = `
  targets_total = t.total, targets_failed = t.failed,
  tests_total = s.total, tests_passed = s.passed, tests_flaky = s.flaky, tests_failed = s.failed`;

/** Joins the totals of `e.attempt_id`. */
const totalsFrom = `
cross join lateral (
  select count(*) as total, count(*) filter (where status = 5) as failed
  from targets where attempt_id = e.attempt_id and aspect = ''
) t
cross join lateral (
  select count(*) as total,
    count(*) filter (where overall_status = 1) as passed,
    count(*) filter (where overall_status = 2) as flaky,
    count(*) filter (where overall_status > 2) as failed
  from test_summaries where attempt_id = e.attempt_id
) s`;

/** What a fact tells, of an invocation `i`. */
const summaryColumns = `
  i.attempt_id, i.project_id, i.invocation_id, i.attempt, i.build_id, i.status, i.command, i.exit_code,
  i.exit_code_name, (extract(epoch from i.started_at) * 1000)::bigint as started_at_ms,
  (extract(epoch from i.finished_at) * 1000)::bigint as finished_at_ms`;

/** Ends attempts with their totals; `otherwise` is the status of those without an exit code. */
export function endInvocationsText(otherwise: InvocationStatus): string {
  return `
update invocations i set
  status = ${finalStatus(otherwise)},
  ended_at = now(), event_count = e.event_count, log_bytes = e.log_bytes, log_lines = e.log_lines, ${totals}
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) e(attempt_id, event_count, log_bytes, log_lines)
${totalsFrom}
where i.attempt_id = e.attempt_id
returning ${summaryColumns}, e.event_count as last_event_seq`;
}

const end: ColumnStatement<InvocationEnd> = {
  text: endInvocationsText("aborted"),
  columns: (one) => [one.attemptId, one.eventCount, one.logBytes, one.logLines],
};

export async function endInvocations(
  executor: Executor,
  ends: readonly InvocationEnd[],
): Promise<AttemptSummary[]> {
  return (await runColumns(executor, end, ends)).map(summaryOf);
}

const reopen: ColumnStatement<number> = {
  text: `
update invocations i set status = 'running', ended_at = null
from unnest($1::bigint[]) r(attempt_id) join stream_positions p using (attempt_id)
where i.attempt_id = r.attempt_id
returning ${summaryColumns}, p.last_event_seq`,
  columns: (attemptId) => [attemptId],
};

export async function reopenInvocations(
  executor: Executor,
  attemptIds: readonly number[],
): Promise<AttemptSummary[]> {
  return (await runColumns(executor, reopen, attemptIds)).map(summaryOf);
}

export function summaryOf(row: AnswerRow): AttemptSummary {
  return {
    key: { project: String(row.project_id), invocationId: String(row.invocation_id) },
    attemptId: Number(row.attempt_id),
    attempt: Number(row.attempt),
    buildId: String(row.build_id),
    status: row.status as InvocationStatus,
    lastEventSeq: Number(row.last_event_seq),
    command: textOf(row.command),
    exitCode: numberOf(row.exit_code),
    exitCodeName: textOf(row.exit_code_name),
    startedAtMs: numberOf(row.started_at_ms),
    finishedAtMs: numberOf(row.finished_at_ms),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
