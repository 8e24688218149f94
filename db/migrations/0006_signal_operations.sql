-- What operators do with the build-signal controller: queues that the API sets, gates, letters by number, old rows.

create table signal_queue_configs (
  name text primary key,
  project_id text not null,
  origin text not null,
  config jsonb not null,
  version integer not null,
  updated_at timestamptz not null
);

create table signal_gates (
  topic text not null,
  partition_key text not null,
  reason text not null,
  closed_at timestamptz not null,
  primary key (topic, partition_key)
);

alter table signal_dead_letters add column id bigint not null generated always as identity;
create unique index signal_dead_letters_by_id on signal_dead_letters (id);

create index signal_requests_by_state on signal_requests (queue, state, number);
create index signal_request_log_by_time on signal_request_log (at);
