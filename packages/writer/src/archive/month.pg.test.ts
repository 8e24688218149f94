import { partitionDaysAhead } from "@millrace/db/partitions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pgPartitionStore } from "../statements/partitions.ts";
import { type StorageBench, storageBench } from "./storage.fixture.ts";

let storage: StorageBench;

beforeAll(async () => {
  storage = await storageBench();
});
afterAll(() => storage[Symbol.asyncDispose]());

const firstDay = Date.UTC(2031, 0, 30);
const dayMs = 86_400_000;
const at = (day: number, time: string): string =>
  `${new Date(firstDay + day * dayMs).toISOString().slice(0, 10)}T${time}Z`;

/** A build that is written to in several pieces, on the days given. */
interface Life {
  readonly invocation: string;
  /** For each piece its day and whether it ends the stream. */
  readonly days: readonly number[];
  readonly ends: boolean;
}

const eventsAPiece = 3;
const monthDays = 30;

/** One build a day that ends at once, one that lives over midnight, one that comes back after a day, one for ever. */
function lives(): Life[] {
  const every = Array.from({ length: monthDays }, (_, day) => day);
  return [
    ...every.map((day) => ({ invocation: `short-${day}`, days: [day], ends: true })),
    ...every.map((day) => ({ invocation: `midnight-${day}`, days: [day, day + 1], ends: true })),
    ...every.map((day) => ({ invocation: `resumed-${day}`, days: [day, day + 2], ends: true })),
    { invocation: "endless", days: every, ends: false },
    { invocation: "fortnight", days: [0, 14], ends: true },
  ];
}

const partitionsText = `
select relname as name from pg_class
where relname ~ '^(event|log)_segments_[0-9]{8}$' and relkind = 'r' order by relname`;

test("over a month every event stays readable, whatever lives over midnight or comes back", {
  timeout: 170_000,
}, async () => {
  const ids = new Map<string, number>();
  const builds = lives();
  const partitions = pgPartitionStore(storage.bench.newContext().lane);
  for (let day = 0; day < monthDays + 3; day += 1) {
    await storage.setTime(at(day, "00:30:00"));
    await partitions.createMissing(await storage.lease("partitions"));
    await storage.dropDays();
    const names = (await storage.bench.all(partitionsText)).map((row) => String(row.name));
    const past = names.filter(
      (name) =>
        name <
        `event_segments_${at(day - 1, "")
          .slice(0, 10)
          .replaceAll("-", "")}`,
    );
    expect(past.filter((name) => name.startsWith("event"))).toEqual([]);
    await storage.setTime(at(day, "23:50:00"));
    for (const build of builds) await writePiece(build, day, ids);
    // The sweep closes what nobody has written to for long; it may come back.
    for (const build of builds)
      if (build.invocation === `resumed-${day}`) await sweep(ids.get(build.invocation) ?? 0);
    if (day % 3 === 0) await compactAllEnded();
  }
  expect(await partitions.countDaysAhead()).toBeGreaterThanOrEqual(partitionDaysAhead);
  expect(await storage.findings()).toEqual([]);
  await everyAttemptIsWhole(builds, ids);
});

async function writePiece(build: Life, day: number, ids: Map<string, number>): Promise<void> {
  const nth = build.days.indexOf(day);
  if (nth === -1) return;
  const first = nth * eventsAPiece + 1;
  const attemptId = ids.get(build.invocation);
  const id = await storage.commit({
    invocation: build.invocation,
    ...(attemptId === undefined ? {} : { attemptId }),
    first,
    last: first + eventsAPiece - 1,
    ends: build.ends && nth === build.days.length - 1,
  });
  ids.set(build.invocation, id);
}

async function sweep(attemptId: number): Promise<void> {
  await storage.bench.one("update stream_positions set swept_at = now() where attempt_id = $1", [attemptId]);
  await storage.bench.one("update invocations set status = 'disconnected' where attempt_id = $1", [
    attemptId,
  ]);
}

async function compactAllEnded(): Promise<void> {
  const { attemptIds } = await storage.archives.findUnarchived({ after: 0, endedForSeconds: 0 });
  for (const attemptId of attemptIds) await storage.compact(attemptId);
}

/** Contiguous from 1 to the end, each event in exactly one place: an archive, or a segment of a day that is kept. */
async function everyAttemptIsWhole(builds: readonly Life[], ids: ReadonlyMap<string, number>): Promise<void> {
  for (const build of builds) {
    const attemptId = ids.get(build.invocation) ?? 0;
    const pieces = await storage.bench.all(
      `select first_seq as first, last_seq as last from archives where attempt_id = $1
       union all
       select first_seq, last_seq from event_segments s where attempt_id = $1 and not exists (
         select from archives a where a.attempt_id = $1 and a.first_seq <= s.first_seq and a.last_seq >= s.last_seq)
       order by 1`,
      [attemptId],
    );
    let end = 0;
    for (const piece of pieces) {
      expect(piece.first, build.invocation).toBe(end + 1);
      end = Number(piece.last);
    }
    expect(end, build.invocation).toBe(build.days.length * eventsAPiece);
  }
}
