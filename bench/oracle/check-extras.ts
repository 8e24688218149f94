import type { LoggedRun } from "./logged-run.ts";
import type { Snapshot } from "./snapshot.ts";
import type { StoredAttempt } from "./stored-attempts.ts";
import type { Findings } from "./verdict.ts";

const tablesOfAttempts = [
  "event_segments",
  "log_segments",
  "targets",
  "test_results",
  "test_summaries",
  "dead_letters",
  "stream_holes",
] as const;

const shown = 20;

/** Of an attempt whose invocation is not in the log: made while the run lasted, it is one too many. */
export function checkUnlogged(attempt: StoredAttempt, of: { run: LoggedRun; findings: Findings }): void {
  if (attempt.createdAtMs < of.run.startedAtMs) return;
  const { invocationId, project, lastEventSeq } = attempt;
  const detail = `an invocation of project ${project} with ${lastEventSeq} events that the log does not know`;
  of.findings.add("extra", { invocationId, detail });
}

/** What belongs to no build of the log: rows without an attempt, dead letters, holes, lifecycle calls of strangers. */
export async function checkExtras(world: {
  readonly snapshot: Snapshot;
  readonly run: LoggedRun;
  readonly findings: Findings;
}): Promise<void> {
  const { snapshot, findings } = world;
  for (const table of tablesOfAttempts) {
    const orphans = await snapshot.rows(
      `select t.attempt_id, count(*) as rows from ${table} t
       where t.attempt_id is not null
         and not exists (select from stream_positions p where p.attempt_id = t.attempt_id)
       group by t.attempt_id order by t.attempt_id limit ${shown}`,
    );
    for (const { attempt_id, rows } of orphans) {
      const detail = `${rows} rows in ${table} of attempt ${attempt_id}, which does not exist`;
      findings.add("extra", { invocationId: "", detail });
    }
  }
  await checkSetAside(world);
  await checkLifecycle(world);
}

async function checkSetAside({ snapshot, run, findings }: Parameters<typeof checkExtras>[0]): Promise<void> {
  const since = [run.startedAtMs / 1_000];
  const letters = await snapshot.rows(
    `select invocation_id, first_seq, last_seq, outcome, cause from dead_letters
     where created_at >= to_timestamp($1::float8) order by id limit ${shown}`,
    since,
  );
  for (const { invocation_id, first_seq, last_seq, outcome, cause } of letters) {
    const detail = `events ${first_seq} … ${last_seq} were set aside (${outcome}): ${cause}`;
    findings.add("dead-letter", { invocationId: String(invocation_id), detail });
  }
  const holes = await snapshot.rows(
    `select attempt_id, first_seq, last_seq, p.invocation_id from stream_holes
     left join stream_positions p using (attempt_id)
     where created_at >= to_timestamp($1::float8) order by attempt_id, first_seq limit ${shown}`,
    since,
  );
  for (const { attempt_id, first_seq, last_seq, invocation_id } of holes) {
    const detail = `attempt ${attempt_id} has a hole at ${first_seq} … ${last_seq}`;
    findings.add("hole", { invocationId: String(invocation_id ?? ""), detail });
  }
}

const rowsAtOnce = 5_000;

async function checkLifecycle({ snapshot, run, findings }: Parameters<typeof checkExtras>[0]): Promise<void> {
  const buildIds = new Set([...run.builds.values()].map(({ build }) => build.buildId));
  const text = `select build_id, invocation_id from lifecycle_events where updated_at >= to_timestamp($1::float8)`;
  for await (const page of snapshot.pages(text, [run.startedAtMs / 1_000], rowsAtOnce)) {
    for (const { build_id, invocation_id } of page) {
      if (buildIds.has(String(build_id))) continue;
      const detail = `lifecycle calls of build ${build_id}, which the log does not know`;
      findings.add("extra", { invocationId: String(invocation_id), detail });
    }
  }
}
