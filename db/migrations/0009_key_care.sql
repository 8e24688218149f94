-- What people need to look after API keys: what each is for, when it was last used, and what has taken its place.
alter table api_keys add column name text not null default '';
-- Coarse: written at most once in ten minutes.
alter table api_keys add column last_used_at timestamptz;
alter table api_keys add column replaced_by text;
create index api_keys_by_project on api_keys (project_id, created_at desc);
