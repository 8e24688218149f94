-- What queries about builds compare, order by and look up.

-- How long a build took, in ms: by Bazel's clock where it gave both times, else by the database's; never by one of each.
alter table invocations add column duration_ms bigint generated always as (
  case
    when started_at is not null and finished_at is not null
      then greatest(0, floor(extract(epoch from finished_at - started_at) * 1000)::bigint)
    when status <> 'running' and ended_at is not null
      then greatest(0, floor(extract(epoch from ended_at - created_at) * 1000)::bigint)
  end) stored;

-- Partial where most rows would only make the index larger: each costs the commit of a build's start and end.
create index invocations_by_user on invocations (project_id, user_name, attempt_id desc);
create index invocations_by_branch on invocations (project_id, branch, attempt_id desc) where branch is not null;
create index invocations_by_commit on invocations (project_id, commit_sha text_pattern_ops) where commit_sha is not null;
create index invocations_gone_wrong on invocations (project_id, attempt_id desc)
  where status in ('failed', 'interrupted', 'disconnected', 'aborted');
create index invocations_by_duration on invocations (project_id, duration_ms desc, attempt_id desc)
  where duration_ms is not null;
