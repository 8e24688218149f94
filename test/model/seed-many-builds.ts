import type { Database } from "@millrace/db/connect";

/**
 * Builds as years of use leave them, made by one statement of the database; the same rows for the same numbers. A hundred
 * users, of whom some build often and most rarely; a thousand branches; a tenth failed, some still running;
 * one in four belongs to another project.
 */
export async function seedManyBuilds(
  on: Pick<Database, "sql">,
  of: { readonly builds: number; readonly until?: string },
): Promise<void> {
  const until = of.until ?? "2026-12-01T00:00:00Z";
  await on.sql.unsafe(
    `create temporary table made as
     select n, case when n % 4 = 1 then 'other' else 'default' end as project,
       substr(md5(n::text), 1, 8) || '-' || substr(md5(n::text), 9, 4) || '-4a6d-9a1b-' || substr(md5(n::text), 13, 12) as id,
       ('x' || substr(md5('r' || n), 1, 7))::bit(28)::int as chance
     from generate_series(1, ${of.builds}) n`,
  );
  await on.sql.unsafe(`insert into stream_positions (project_id, invocation_id, attempt, owner, node_id, last_event_seq)
    select project, id, 1, '\\x00', 'seed', 600 from made order by n`);
  await on.sql.unsafe(
    `insert into invocations (attempt_id, project_id, invocation_id, attempt, build_id, status, created_at, ended_at,
       command, tool_version, started_at, finished_at, exit_code, exit_code_name, user_name, host_name, patterns, branch,
       commit_sha, role, targets_total, targets_failed, tests_total, tests_passed, tests_failed, tests_flaky)
     select p.attempt_id, project, id, 1, 'b-' || n / 3, status, began, finished, command, '8.4.' || chance % 5,
       began, finished, exit, case exit when 0 then 'SUCCESS' when 3 then 'TESTS_FAILED' when 1 then 'BUILD_FAILURE' end,
       'user-' || floor(100 * power((chance % 1000) / 1000.0, 3))::int, 'ci-' || chance % 40,
       array['//app/pkg' || chance % 3000 || '/...', '//lib:all'],
       case when chance % 10 < 4 then 'main' when chance % 10 < 9 then 'feature-' || chance % 1000 end,
       md5('c' || n / 2) || substr(md5('d' || n / 2), 1, 8), case when chance % 3 = 0 then 'CI' end,
       done + chance % 400, case when exit = 1 then 3 else 0 * done end, done + chance % 90, done + chance % 80,
       case when exit = 3 then 2 else 0 * done end, case when chance % 40 = 0 then done + 1 else 0 * done end
     from made join stream_positions p on p.project_id = project and p.invocation_id = id,
       lateral (select case when n > ${of.builds} - 20 and n % 3 = 0 then 'running' when chance % 100 < 9 then 'failed'
         when chance % 1000 = 500 then 'interrupted' when chance % 1000 = 501 then 'disconnected' else 'succeeded' end as status,
         $1::timestamptz - (${of.builds} - n) * interval '7.5 minutes' as began) s,
       lateral (select case when status <> 'running' then began + (power(10, (chance % 500) / 100.0) || ' s')::interval / 10 end
         as finished, case status when 'running' then null when 'failed' then 1 + 2 * (chance % 2) when 'succeeded' then 0 end
         as exit, case when chance % 4 = 0 then 'test' when chance % 17 = 0 then 'run' else 'build' end as command,
         case when status <> 'running' then 0 end as done) t
     order by n`,
    [until],
  );
  await on.sql.unsafe("drop table made");
  await on.sql.unsafe(
    "insert into projects (id, name) values ('default', 'Default'), ('other', 'Other') on conflict do nothing",
  );
  await on.sql.unsafe("vacuum analyze invocations, stream_positions");
}
