-- Rows that are written twice as a rule (a target when it is configured and when it is built, a lifecycle row at the
-- start and at the end) find room for their second version on their page: then no index is touched. Measured with
-- builds of 600 events: 99 % of the targets' updates instead of 10 %, 302 bytes of WAL an event instead of 369.
alter table targets set (fillfactor = 50);
alter table lifecycle_events set (fillfactor = 50);

-- A relay holds the rows that it publishes by their locks.
alter table outbox drop column claimed_until;
