import type { Snapshot } from "./snapshot.ts";

/** An attempt as its rows in `stream_positions` and `invocations` tell it. */
export interface StoredAttempt {
  readonly attemptId: number;
  readonly invocationId: string;
  readonly project: string;
  readonly attempt: number;
  readonly buildId: string;
  readonly lastEventSeq: number;
  readonly isFinished: boolean;
  readonly createdAtMs: number;
  readonly status: string;
  readonly isPartial: boolean;
  readonly undecodedEvents: number;
  readonly eventCount: number | undefined;
  readonly logBytes: number | undefined;
  readonly logLines: number | undefined;
}

/** What one row of the two tables lacks in the other. */
export interface HalfAttempt {
  readonly attemptId: number;
  readonly missing: "stream_positions" | "invocations";
}

const rowsAtOnce = 5_000;

const text = `
select attempt_id, p.attempt_id is null as no_position, i.attempt_id is null as no_invocation,
  coalesce(p.project_id, i.project_id) as project_id, coalesce(p.invocation_id, i.invocation_id) as invocation_id,
  coalesce(p.attempt, i.attempt) as attempt, p.build_id, p.last_event_seq, p.finished_at is not null as is_finished,
  (extract(epoch from coalesce(i.created_at, p.opened_at)) * 1000)::float8 as created_at_ms,
  i.status, i.partial, i.undecoded_events, i.event_count, i.log_bytes, i.log_lines
from stream_positions p full join invocations i using (attempt_id)`;

/** Reads all attempts, whoever made them. */
export async function* readAttempts(snapshot: Snapshot): AsyncGenerator<StoredAttempt | HalfAttempt> {
  for await (const page of snapshot.pages(text, [], rowsAtOnce)) {
    for (const row of page) {
      const attemptId = Number(row["attempt_id"]);
      if (row["no_position"] === true) yield { attemptId, missing: "stream_positions" };
      else if (row["no_invocation"] === true) yield { attemptId, missing: "invocations" };
      else yield { ...attemptOf(row), attemptId };
    }
  }
}

function attemptOf(row: Readonly<Record<string, unknown>>): Omit<StoredAttempt, "attemptId"> {
  const numberOrNothing = (value: unknown) => (typeof value === "number" ? value : undefined);
  return {
    invocationId: String(row["invocation_id"]),
    project: String(row["project_id"]),
    attempt: Number(row["attempt"]),
    buildId: String(row["build_id"]),
    lastEventSeq: Number(row["last_event_seq"]),
    isFinished: row["is_finished"] === true,
    createdAtMs: Number(row["created_at_ms"]),
    status: String(row["status"]),
    isPartial: row["partial"] === true,
    undecodedEvents: Number(row["undecoded_events"]),
    eventCount: numberOrNothing(row["event_count"]),
    logBytes: numberOrNothing(row["log_bytes"]),
    logLines: numberOrNothing(row["log_lines"]),
  };
}
