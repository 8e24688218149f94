-- Segments of attempts that have ended lie in the blob store for good: an archive's row says what it covers and where
-- in it which events and which bytes of the log are.
create table archives (
  attempt_id bigint not null,
  part integer not null,
  prefix text not null,
  first_seq bigint not null,
  last_seq bigint not null,
  raw_bytes bigint not null,
  first_byte bigint not null,
  byte_count bigint not null,
  first_line bigint not null,
  line_count bigint not null,
  size bigint not null,
  digest bytea not null,
  frames bytea not null,
  created_at timestamptz not null default now(),
  expired_at timestamptz,
  primary key (attempt_id, part)
);
create index archives_kept on archives (attempt_id) where expired_at is null;

-- How long what is stored of a project is kept.
alter table projects
  add column raw_days integer not null default 14,
  add column build_days integer not null default 90,
  add column spawn_days integer not null default 30;

-- A line is found as a byte is, by reading the index alone.
create index log_segments_by_place on log_segments (attempt_id, first_byte, first_line);
drop index log_segments_by_byte;

-- Who asks whether a staged blob has an owner.
create index event_segments_staged on event_segments (staged_key) where staged_key is not null;
create index log_segments_staged on log_segments (staged_key) where staged_key is not null;
