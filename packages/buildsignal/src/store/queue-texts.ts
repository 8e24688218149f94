/**
 * The statements of the queue. Those that read deliveries come after the one that locks their partitions, each with a
 * snapshot of its own: what was published before the lock was taken is seen.
 *
 * `now` is an expression; as a subquery it is evaluated once and an index can use it.
 */
export function queueTexts(now: string) {
  return {
    ...publishTexts(now),
    ...claimTexts(now),
    ...waitTexts(now),
    ...endTexts(now),
    ...deadTexts(now),
    ...headTexts(now),
  };
}

export type QueueTexts = ReturnType<typeof queueTexts>;

/** Adding a message. */
function publishTexts(now: string) {
  return {
    /** $1 topic, $2 groups, $3 key, $4 id, $5 payload, $6 metadata, $7 once. */
    insertDeliveries: `
insert into signal_deliveries
  (topic, group_name, partition_key, message_id, payload, metadata, published_at, once, due_at)
select $1, g, $3, $4, $5::text::jsonb, $6::text::jsonb, ${now}, $7::boolean, ${now}
from unnest($2::text[]) g
where not exists (
    select from signal_deliveries d
    where d.topic = $1 and d.group_name = any($2::text[]) and d.partition_key = $3 and d.message_id = $4
      and d.done_at is null)
  and not ($7::boolean and exists (
    select from signal_deliveries d
    where d.topic = $1 and d.partition_key = $3 and d.message_id = $4 and d.done_at is not null))
on conflict do nothing
returning id, group_name`,

    /** Locks or makes the partitions of new deliveries. $1 topics, $2 groups, $3 keys, $4 delivery ids. */
    lockPartitions: `
insert into signal_partitions as p (topic, group_name, partition_key, head_id, next_due)
select i.topic, i.group_name, i.partition_key, i.id, ${now}
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) i(topic, group_name, partition_key, id)
order by i.topic, i.group_name, i.partition_key
on conflict (topic, group_name, partition_key) do update set topic = excluded.topic
returning p.topic, p.group_name, p.partition_key, p.receipt is not null as is_handled, p.xmax = 0 as is_new`,
  };
}

/** Of a partition `q` of the topic `a.topic`: no gate is closed before it. */
const isOpen = `not exists (
      select from signal_gates g
      where g.topic = a.topic and g.partition_key in ('', q.partition_key))`;

/** Handing out. */
function claimTexts(now: string) {
  return {
    /** Hands partitions out, but for those behind a closed gate. $1 topics, $2 groups, $3 rooms, $4 visibilities in milliseconds. */
    claimPartitions: `
with due as (
  select p.topic, p.group_name, p.partition_key, p.next_due, p.receipt is not null as has_lapsed, a.visibility_ms
  from unnest($1::text[], $2::text[], $3::int[], $4::float8[]) a(topic, group_name, room, visibility_ms)
  cross join lateral (
    select q.* from signal_partitions q
    where q.topic = a.topic and q.group_name = a.group_name and q.next_due <= ${now} and ${isOpen}
    order by q.next_due limit a.room for update skip locked) p)
update signal_partitions p
set receipt = gen_random_uuid()::text, next_due = ${now} + make_interval(secs => due.visibility_ms / 1000)
from due
where p.topic = due.topic and p.group_name = due.group_name and p.partition_key = due.partition_key
returning p.topic, p.group_name, p.head_id, p.receipt, due.has_lapsed,
  (extract(epoch from ${now} - due.next_due) * 1000)::float8 as late_ms`,

    /** $1 ids. */
    countLapsed: `
update signal_deliveries set failures = failures + 1, holds = 0, held_since = null, is_barrier = false
where id = any($1::bigint[])`,

    /** $1 ids. */
    readDeliveries: `
select id, topic, group_name, partition_key, message_id, payload, metadata, once, failures, holds,
  coalesce(extract(epoch from ${now} - held_since) * 1000, 0)::float8 as held_for_ms
from signal_deliveries where id = any($1::bigint[])`,

    /** When the next of each topic is due, of those that are not behind a closed gate. $1 topics, $2 groups. */
    nextDue: `
select (extract(epoch from min(p.next_due) - ${now}) * 1000)::float8 as in_ms
from unnest($1::text[], $2::text[]) a(topic, group_name)
cross join lateral (
  select next_due from signal_partitions q
  where q.topic = a.topic and q.group_name = a.group_name and ${isOpen} order by q.next_due limit 1) p`,
  };
}

/** Letting go of what comes again. */
function waitTexts(now: string) {
  return {
    /** Locks the partitions whose receipts are still good. $1 topics, $2 groups, $3 keys, $4 receipts. */
    lockReceipts: `
select p.receipt
from unnest($1::text[], $2::text[], $3::text[], $4::text[]) i(topic, group_name, partition_key, receipt)
join signal_partitions p
  on p.topic = i.topic and p.group_name = i.group_name and p.partition_key = i.partition_key
where p.receipt = i.receipt
order by p.topic, p.group_name, p.partition_key
for update of p`,

    /**
     * Lets partitions go whose head is held and has nothing before it: it stays the head, whatever is behind it. An older
     * delivery that is being published at this moment waits for the hold's end. $1 topics, $2 groups, $3 keys,
     * $4 receipts, $5 ids, $6 delays in milliseconds.
     */
    holdAtFront: `
update signal_partitions p
set receipt = null, next_due = ${now} + make_interval(secs => i.delay_ms / 1000)
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::float8[])
  i(topic, group_name, partition_key, receipt, id, delay_ms)
where p.topic = i.topic and p.group_name = i.group_name and p.partition_key = i.partition_key
  and p.receipt = i.receipt and p.head_id = i.id
  and not exists (
    select from signal_deliveries d
    where d.topic = i.topic and d.group_name = i.group_name and d.partition_key = i.partition_key
      and d.done_at is null and d.id < i.id)
returning p.head_id as id, i.delay_ms as in_ms`,

    /** $1 ids, $2 delays in milliseconds, $3 whether fresh (1 or 0; the driver takes a list of booleans for one boolean). */
    hold: `
update signal_deliveries d
set due_at = ${now} + make_interval(secs => i.delay_ms / 1000), is_barrier = true, failures = 0,
  holds = case when i.fresh = 1 then 1 else d.holds + 1 end, held_since = coalesce(d.held_since, ${now})
from unnest($1::bigint[], $2::float8[], $3::int[]) i(id, delay_ms, fresh)
where d.id = i.id`,

    /** $1 ids, $2 delays in milliseconds, $3 whether a barrier (1 or 0). */
    retry: `
update signal_deliveries d
set due_at = ${now} + make_interval(secs => i.delay_ms / 1000), is_barrier = i.is_barrier = 1,
  failures = d.failures + 1, holds = 0, held_since = null
from unnest($1::bigint[], $2::float8[], $3::int[]) i(id, delay_ms, is_barrier)
where d.id = i.id`,

    /** $1 ids. */
    giveBack: `update signal_deliveries set due_at = ${now}, is_barrier = false where id = any($1::bigint[])`,

    /** $1 topics, $2 groups, $3 keys, $4 receipts, $5 milliseconds. */
    extend: `
update signal_partitions p set next_due = ${now} + make_interval(secs => $5::float8 / 1000)
from unnest($1::text[], $2::text[], $3::text[], $4::text[]) i(topic, group_name, partition_key, receipt)
where p.topic = i.topic and p.group_name = i.group_name and p.partition_key = i.partition_key
  and p.receipt = i.receipt`,
  };
}

/** Forgetting what is done. */
function endTexts(now: string) {
  return {
    /** $1 ids. */
    deleteDone: `delete from signal_deliveries where id = any($1::bigint[])`,

    /** $1 ids. */
    keepDone: `update signal_deliveries set done_at = ${now} where id = any($1::bigint[])`,

    /** A reconciler is done with a letter. $1 topics of work, $2 their groups, $3 keys, $4 message ids. */
    settleLetters: `
update signal_dead_letters l set state = 'reconciled', settled_at = ${now}
from unnest($1::text[], $2::text[], $3::text[], $4::text[]) i(topic, group_name, partition_key, message_id)
where l.topic = i.topic and l.group_name = i.group_name and l.partition_key = i.partition_key
  and l.message_id = i.message_id and l.state = 'open'`,

    /** $1 milliseconds. */
    pruneDone: `
delete from signal_deliveries
where done_at < ${now} - make_interval(secs => $1::float8 / 1000)`,
  };
}

/** Setting aside what is given up. */
function deadTexts(now: string) {
  return {
    /** $1 ids, $2 reasons, $3 attempts. */
    writeLetters: `
insert into signal_dead_letters as l
  (topic, group_name, partition_key, message_id, payload, metadata, failures,
   first_reason, last_reason, first_failed_at, last_failed_at)
select d.topic, d.group_name, d.partition_key, d.message_id, d.payload, d.metadata, i.failures,
  i.reason, i.reason, ${now}, ${now}
from unnest($1::bigint[], $2::text[], $3::int[]) i(id, reason, failures)
join signal_deliveries d on d.id = i.id
order by d.topic, d.group_name, d.partition_key, d.message_id
on conflict (topic, group_name, partition_key, message_id) do update
set payload = excluded.payload, metadata = excluded.metadata, state = 'open', settled_at = null,
  occurrences = l.occurrences + 1, failures = excluded.failures,
  last_reason = excluded.last_reason, last_failed_at = excluded.last_failed_at`,

    /** Hands dead letters to their reconcilers. $1 ids, $2 dead topics, $3 dead groups. */
    moveDead: `
with gone as (delete from signal_deliveries where id = any($1::bigint[]) returning *)
insert into signal_deliveries
  (topic, group_name, partition_key, message_id, payload, metadata, published_at, due_at)
select i.topic, i.group_name, gone.partition_key, gone.message_id, gone.payload, gone.metadata, ${now}, ${now}
from unnest($1::bigint[], $2::text[], $3::text[]) i(id, topic, group_name)
join gone on gone.id = i.id
order by i.topic, i.group_name, gone.partition_key
on conflict do nothing
returning id, topic, group_name, partition_key`,
  };
}

/** Deciding what is next. */
function headTexts(now: string) {
  return {
    /**
     * Decides what is next in partitions that are locked and in nobody's hands, and forgets those that are empty. The
     * order stops at the first delivery that is due or a barrier; of those up to there the earliest comes next.
     * $1 topics, $2 groups, $3 keys.
     */
    chooseHeads: `
with mine as (
  select * from unnest($1::text[], $2::text[], $3::text[]) m(topic, group_name, partition_key)),
heads as (
  select m.*, h.id, h.due_at from mine m left join lateral (
    select d.id, d.due_at from signal_deliveries d
    where d.topic = m.topic and d.group_name = m.group_name and d.partition_key = m.partition_key
      and d.done_at is null
      and d.id <= coalesce((
        select s.id from signal_deliveries s
        where s.topic = m.topic and s.group_name = m.group_name and s.partition_key = m.partition_key
          and s.done_at is null and (s.is_barrier or s.due_at <= ${now})
        order by s.id limit 1), 9223372036854775807)
    order by greatest(d.due_at, ${now}), d.id limit 1) h on true),
emptied as (
  delete from signal_partitions p using heads h
  where p.topic = h.topic and p.group_name = h.group_name and p.partition_key = h.partition_key and h.id is null)
update signal_partitions p set head_id = h.id, next_due = h.due_at, receipt = null
from heads h
where p.topic = h.topic and p.group_name = h.group_name and p.partition_key = h.partition_key
  and h.id is not null
returning (extract(epoch from p.next_due - ${now}) * 1000)::float8 as in_ms`,
  };
}
