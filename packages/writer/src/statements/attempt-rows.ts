import type { IDetailsRow, IMetricsRow } from "@millrace/proto/pipeline";
import type { OfAttempt } from "../store.ts";
import { arrayLiteral, type ColumnStatement, hexOf, type Value } from "./column-statement.ts";

/** How one field of a message becomes one column. */
interface Column<R> {
  readonly name: string;
  /** Type of its array parameter. */
  readonly type: "bigint" | "int" | "text";
  /** The column's value from the parameter's, where they differ. */
  readonly from?: string;
  value(row: R): Value;
}

/** One row an attempt: columns that an event does not say keep what they have. */
function patchOf<R>(table: string, columns: readonly Column<R>[]): ColumnStatement<OfAttempt<R>> {
  const names = columns.map(({ name }) => name).join(", ");
  const types = columns.map(({ type }, index) => `$${index + 2}::${type}[]`).join(", ");
  const values = columns.map(({ name, from }) => from ?? name).join(", ");
  const updates = columns.map(({ name }) => `${name} = coalesce(excluded.${name}, t.${name})`).join(",\n  ");
  return {
    text: `
insert into ${table} as t (attempt_id, ${names})
select attempt_id, ${values}
from unnest($1::bigint[], ${types}) r(attempt_id, ${names})
order by attempt_id
on conflict (attempt_id) do update set
  ${updates}`,
    columns: ({ attemptId, row }) => [attemptId, ...columns.map((column) => column.value(row))],
  };
}

function number<R>(name: string, value: (row: R) => number | null | undefined): Column<R> {
  return { name, type: "bigint", value };
}

function text<R>(name: string, value: (row: R) => string | null | undefined): Column<R> {
  return { name, type: "text", value };
}

function json<R>(name: string, value: (row: R) => string | null | undefined): Column<R> {
  return { name, type: "text", from: `${name}::jsonb`, value };
}

function list<R>(name: string, value: (row: R) => readonly string[] | null | undefined): Column<R> {
  return { name, type: "text", from: `${name}::text[]`, value: (row) => arrayLiteral(value(row)) };
}

function bytes<R>(name: string, value: (row: R) => Uint8Array | null | undefined): Column<R> {
  return { name, type: "text", from: `decode(${name}, 'hex')`, value: (row) => hexOrNull(value(row)) };
}

/** Bytes as hex for `decode(…, 'hex')`; none at all are null. */
export function hexOrNull(value: Uint8Array | null | undefined): string | null {
  return value && value.length > 0 ? hexOf(value) : null;
}

export const upsertMetrics = patchOf<IMetricsRow>("invocation_metrics", [
  number("actions_created", (row) => row.actionsCreated),
  number("actions_executed", (row) => row.actionsExecuted),
  number("remote_cache_hits", (row) => row.remoteCacheHits),
  number("action_cache_hits", (row) => row.actionCacheHits),
  number("action_cache_misses", (row) => row.actionCacheMisses),
  number("targets_loaded", (row) => row.targetsLoaded),
  number("targets_configured", (row) => row.targetsConfigured),
  number("packages_loaded", (row) => row.packagesLoaded),
  number("cpu_time_ms", (row) => row.cpuTimeMs),
  number("wall_time_ms", (row) => row.wallTimeMs),
  number("analysis_phase_ms", (row) => row.analysisPhaseMs),
  number("execution_phase_ms", (row) => row.executionPhaseMs),
  number("critical_path_ms", (row) => row.criticalPathMs),
  number("used_heap_bytes", (row) => row.usedHeapBytes),
  number("peak_heap_bytes", (row) => row.peakHeapBytes),
  number("bytes_sent", (row) => row.bytesSent),
  number("bytes_received", (row) => row.bytesReceived),
  number("output_bytes", (row) => row.outputBytes),
  number("output_count", (row) => row.outputCount),
  bytes("groups", (row) => row.groups),
]);

export const upsertDetails = patchOf<IDetailsRow>("invocation_details", [
  list("startup_options", (row) => row.startupOptions),
  list("explicit_startup_options", (row) => row.explicitStartupOptions),
  list("options", (row) => row.options),
  list("explicit_options", (row) => row.explicitOptions),
  text("tool_tag", (row) => row.toolTag),
  json("workspace_status", (row) => row.workspaceStatus),
  json("build_metadata", (row) => row.buildMetadata),
  text("local_exec_root", (row) => row.localExecRoot),
  number("server_pid", (row) => row.serverPid),
  number("pattern_targets", (row) => row.patternTargets),
  json("test_suites", (row) => row.testSuites),
  bytes("convenience_symlinks", (row) => row.convenienceSymlinks),
  bytes("exec_request", (row) => row.execRequest),
  bytes("tool_logs", (row) => row.toolLogs),
  number("failure_category", (row) => row.failureCategory),
  number("failure_code", (row) => row.failureCode),
  {
    name: "was_suspended",
    type: "int",
    from: "was_suspended = 1",
    value: ({ wasSuspended }) => (typeof wasSuspended === "boolean" ? Number(wasSuspended) : null),
  },
]);
