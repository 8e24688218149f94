-- What Bazel says beyond targets and tests. What each column means is said in src/schema/.

-- Failed actions by the sequence number of their event; of all others only counts.
create table actions (
  attempt_id bigint not null,
  sequence bigint not null,
  success boolean not null,
  label text,
  configuration text,
  mnemonic text,
  primary_output text,
  exit_code integer,
  failure_message text,
  failure_category integer,
  failure_code integer,
  started_at timestamptz,
  ended_at timestamptz,
  stdout_uri text,
  stderr_uri text,
  command_line text[],
  primary key (attempt_id, sequence)
);

create table action_counts (
  attempt_id bigint not null,
  mnemonic text not null,
  succeeded bigint not null,
  failed bigint not null,
  duration_ms bigint not null,
  primary key (attempt_id, mnemonic)
) with (fillfactor = 50);

-- Named sets as they were announced and the outputs of targets, packed into blocks; a batch makes its own.
create table named_sets (
  attempt_id bigint not null,
  first_seq bigint not null,
  part smallint not null,
  set_count integer not null,
  file_count bigint not null,
  raw_bytes bigint not null,
  first_id bigint,
  last_id bigint,
  cut boolean not null,
  data bytea not null,
  primary key (attempt_id, first_seq, part)
);
-- The bytes are compressed already.
alter table named_sets alter column data set storage external;

create table configurations (
  attempt_id bigint not null,
  id text not null,
  mnemonic text,
  platform text,
  cpu text,
  is_tool boolean not null,
  make_variables jsonb,
  primary key (attempt_id, id)
);

create table invocation_metrics (
  attempt_id bigint primary key,
  actions_created bigint,
  actions_executed bigint,
  remote_cache_hits bigint,
  action_cache_hits bigint,
  action_cache_misses bigint,
  targets_loaded bigint,
  targets_configured bigint,
  packages_loaded bigint,
  cpu_time_ms bigint,
  wall_time_ms bigint,
  analysis_phase_ms bigint,
  execution_phase_ms bigint,
  critical_path_ms bigint,
  used_heap_bytes bigint,
  peak_heap_bytes bigint,
  bytes_sent bigint,
  bytes_received bigint,
  output_bytes bigint,
  output_count bigint,
  groups bytea
);

create table invocation_details (
  attempt_id bigint primary key,
  startup_options text[],
  explicit_startup_options text[],
  options text[],
  explicit_options text[],
  tool_tag text,
  workspace_status jsonb,
  build_metadata jsonb,
  local_exec_root text,
  server_pid bigint,
  pattern_targets integer,
  test_suites jsonb,
  convenience_symlinks bytea,
  exec_request bytea,
  tool_logs bytea,
  failure_category integer,
  failure_code integer,
  was_suspended boolean
) with (fillfactor = 70);

create table problems (
  attempt_id bigint not null,
  sequence bigint not null,
  kind text not null,
  subject text,
  configuration text,
  reason text not null,
  description text,
  primary key (attempt_id, sequence)
);

create table fetches (
  attempt_id bigint not null,
  sequence bigint not null,
  url text not null,
  downloader integer not null,
  success boolean not null,
  primary key (attempt_id, sequence)
);

create table test_progress (
  attempt_id bigint not null,
  label text not null,
  configuration text not null,
  run integer not null,
  shard integer not null,
  attempt integer not null,
  opaque_count integer not null,
  uri text not null,
  primary key (attempt_id, label, configuration, run, shard, attempt)
);

create table unknowns (
  attempt_id bigint not null,
  what text not null,
  events bigint not null,
  primary key (attempt_id, what)
);

alter table targets
  add column outputs_seq bigint,
  add column test_timeout_ms bigint,
  add column overall_success boolean,
  add column overall_test_status integer;

alter table test_results
  add column hostname text,
  add column warnings text[],
  add column execution_info bytea;
