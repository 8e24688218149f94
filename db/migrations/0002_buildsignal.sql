-- The tables of the build-signal controller. What each column means is said in src/schema/signal-*.ts.

create table signal_queues (
  name text primary key,
  project_id text not null,
  last_number bigint not null default 0,
  latest_request_id text not null default '',
  last_green_uri text not null default '',
  last_green_request_id text not null default '',
  slots jsonb not null default '[]',
  next_admission_at timestamptz,
  version integer not null
);

create table signal_requests (
  id text primary key,
  queue text not null,
  number bigint not null,
  uri text not null,
  strategy text not null default '',
  base_uri text not null default '',
  state text not null,
  reason text,
  build_id text,
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  version integer not null
);

create table signal_request_uris (
  queue text not null,
  uri text not null,
  request_id text not null,
  version integer not null,
  primary key (queue, uri)
);

create table signal_builds (
  id text primary key,
  queue text not null,
  handle text not null,
  request_id text not null,
  status text not null,
  reason text,
  provider_state text not null default '',
  url text not null default '',
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  deadline_at timestamptz not null,
  version integer not null
);

create table signal_facts (
  queue text not null,
  uri text not null,
  part text not null default '',
  degree smallint not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (queue, uri, part)
);

create table signal_request_log (
  id bigint primary key generated always as identity,
  request_id text not null,
  queue text not null,
  at timestamptz not null,
  who text not null,
  from_state text not null,
  to_state text not null,
  reason text,
  build_id text
);

create table signal_deliveries (
  id bigint primary key generated always as identity,
  topic text not null,
  group_name text not null,
  partition_key text not null,
  message_id text not null,
  payload jsonb not null,
  metadata jsonb not null default '{}',
  published_at timestamptz not null,
  once boolean not null default false,
  due_at timestamptz not null,
  is_barrier boolean not null default false,
  failures integer not null default 0,
  holds integer not null default 0,
  held_since timestamptz,
  done_at timestamptz
) with (fillfactor = 70);

create table signal_partitions (
  topic text not null,
  group_name text not null,
  partition_key text not null,
  head_id bigint not null,
  receipt text,
  next_due timestamptz not null,
  primary key (topic, group_name, partition_key)
) with (fillfactor = 70);

create table signal_dead_letters (
  topic text not null,
  group_name text not null,
  partition_key text not null,
  message_id text not null,
  payload jsonb not null,
  metadata jsonb not null,
  state text not null default 'open',
  occurrences integer not null default 1,
  failures integer not null,
  first_reason text not null,
  last_reason text not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  settled_at timestamptz,
  primary key (topic, group_name, partition_key, message_id)
);

create index signal_requests_by_number on signal_requests (queue, number);
create index signal_requests_open on signal_requests (queue) where state in ('accepted', 'processing');
create index signal_builds_by_request on signal_builds (request_id);
create index signal_request_log_by_request on signal_request_log (request_id, id);
create unique index signal_deliveries_unfinished on signal_deliveries (topic, group_name, partition_key, message_id)
  where done_at is null;
create index signal_deliveries_in_order on signal_deliveries (topic, group_name, partition_key, id)
  where done_at is null;
create index signal_deliveries_done on signal_deliveries (topic, partition_key, message_id)
  where done_at is not null;
create index signal_partitions_by_due on signal_partitions (topic, group_name, next_due);
