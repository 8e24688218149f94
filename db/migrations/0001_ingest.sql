-- The tables of the ingest path. What each column means is said in src/schema/.

create table api_keys (
  id text primary key,
  project_id text not null,
  key_sha256 bytea not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  open_streams_max bigint not null default 0,
  events_per_second_max bigint not null default 0,
  bytes_per_second_max bigint not null default 0,
  constraint api_keys_by_sha256 unique (key_sha256)
);

create table dead_letters (
  id bigint primary key generated always as identity,
  project_id text not null,
  invocation_id text not null,
  attempt_id bigint,
  first_seq bigint not null,
  last_seq bigint not null,
  outcome text not null,
  sql_state text not null,
  cause text not null,
  rows bytea,
  created_at timestamptz not null default now()
);

create table event_segments (
  attempt_id bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  raw_bytes bigint not null,
  data bytea,
  staged_key text,
  commit_day date not null default (now() at time zone 'utc')::date
) partition by range (commit_day);
-- The bytes are compressed already.
alter table event_segments alter column data set storage external;

create table invocations (
  attempt_id bigint primary key,
  project_id text not null,
  invocation_id text not null,
  attempt integer not null,
  build_id text not null default '',
  status text not null default 'running',
  partial boolean not null default false,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  command text,
  tool_version text,
  started_at timestamptz,
  finished_at timestamptz,
  exit_code integer,
  exit_code_name text,
  failure_message text,
  user_name text,
  host_name text,
  workspace_directory text,
  working_directory text,
  patterns text[],
  branch text,
  commit_sha text,
  repository_url text,
  role text,
  cpu text,
  platform text,
  actions_executed bigint,
  wall_time_ms bigint,
  cpu_time_ms bigint,
  abort_reason text,
  undecoded_events bigint not null default 0,
  event_count bigint,
  log_bytes bigint,
  log_lines bigint,
  targets_total integer,
  targets_failed integer,
  tests_total integer,
  tests_passed integer,
  tests_failed integer,
  tests_flaky integer
) with (fillfactor = 70);

create table job_leases (
  name text primary key,
  holder text not null,
  epoch bigint not null,
  lease_until timestamptz not null
);

create table lifecycle_events (
  project_id text not null,
  build_id text not null,
  invocation_id text not null,
  component integer not null,
  last_sequence bigint not null,
  attempt_number bigint not null,
  started_at timestamptz,
  finished_at timestamptz,
  result integer,
  updated_at timestamptz not null default now(),
  primary key (project_id, build_id, invocation_id, component)
);

create table log_segments (
  attempt_id bigint not null,
  first_byte bigint not null,
  byte_count bigint not null,
  first_line bigint not null,
  line_count bigint not null,
  data bytea,
  staged_key text,
  commit_day date not null default (now() at time zone 'utc')::date
) partition by range (commit_day);
-- The bytes are compressed already.
alter table log_segments alter column data set storage external;

create table nodes (
  id text primary key,
  lease_until timestamptz not null
);

create table outbox (
  id bigint primary key generated always as identity,
  project_id text not null,
  subject text not null,
  event jsonb not null,
  created_at timestamptz not null default now(),
  claimed_until timestamptz,
  published_at timestamptz,
  published_to text
);

create table projects (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);


create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);

create table stream_holes (
  attempt_id bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  created_at timestamptz not null default now(),
  primary key (attempt_id, first_seq)
);

create table stream_positions (
  attempt_id bigint primary key generated always as identity,
  project_id text not null,
  invocation_id text not null,
  attempt integer not null,
  build_id text not null default '',
  owner bytea not null,
  last_event_seq bigint not null default 0,
  first_event_hmac bytea,
  carry bytea,
  node_id text not null,
  disconnected_at timestamptz,
  finished_at timestamptz,
  opened_at timestamptz not null default now(),
  swept_at timestamptz,
  constraint stream_positions_key unique (project_id, invocation_id, attempt)
) with (fillfactor = 50);

create table targets (
  attempt_id bigint not null,
  label text not null,
  aspect text not null,
  configuration text not null,
  status smallint not null,
  target_kind text,
  test_size integer,
  tags text[],
  failure_message text,
  abort_reason text,
  completed_at timestamptz,
  primary key (attempt_id, label, aspect, configuration)
);

create table test_results (
  attempt_id bigint not null,
  label text not null,
  configuration text not null,
  run integer not null,
  shard integer not null,
  attempt integer not null,
  status integer not null,
  status_details text,
  started_at timestamptz,
  duration_ms bigint,
  cached_locally boolean not null,
  cached_remotely boolean not null,
  strategy text,
  exit_code integer,
  outputs jsonb,
  primary key (attempt_id, label, configuration, run, shard, attempt)
);

create table test_summaries (
  attempt_id bigint not null,
  label text not null,
  configuration text not null,
  overall_status integer not null,
  total_run_count integer not null,
  run_count integer not null,
  attempt_count integer not null,
  shard_count integer not null,
  total_num_cached integer not null,
  first_start_at timestamptz,
  last_stop_at timestamptz,
  total_run_duration_ms bigint,
  primary key (attempt_id, label, configuration)
);

create index dead_letters_by_attempt on dead_letters (attempt_id);
create index event_segments_by_sequence on event_segments (attempt_id, first_seq);
create index invocations_by_project on invocations (project_id,attempt_id desc);
create index invocations_by_build on invocations (project_id, build_id);
create index invocations_running on invocations (attempt_id) where status = 'running';
create index log_segments_by_byte on log_segments (attempt_id, first_byte);
create index outbox_unpublished on outbox (id) where published_at is null;
