import { signalDeadLetters } from "@millrace/db/schema/signal-dead-letters";
import { signalQueues } from "@millrace/db/schema/signal-queues";
import { and, count, desc, eq, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

export type LetterState = (typeof signalDeadLetters.$inferSelect)["state"];

/** The queue that the message was about; empty when it does not say so. */
const queue = sql<string>`coalesce(${signalDeadLetters.payload}->>'queue_name', '')`;

export type LetterRow = Awaited<ReturnType<typeof listLetters>>[number];

/** Dead letters, newest first. One that names no queue is shown to those who see every project. */
export async function listLetters(
  orm: Orm,
  viewer: Viewer,
  page: {
    states?: readonly LetterState[] | undefined;
    queue?: string | undefined;
    only?: number;
    before?: number | undefined;
    limit: number;
  },
) {
  const where = and(
    visibleLetter(viewer),
    page.states === undefined ? undefined : inArray(signalDeadLetters.state, [...page.states]),
    page.queue === undefined ? undefined : eq(queue, page.queue),
    page.only === undefined ? undefined : eq(signalDeadLetters.id, page.only),
    page.before === undefined ? undefined : lt(signalDeadLetters.id, page.before),
  );
  return await read("the dead letters", () =>
    orm
      .select({ letter: signalDeadLetters, queue })
      .from(signalDeadLetters)
      .where(where)
      .orderBy(desc(signalDeadLetters.id))
      .limit(page.limit),
  );
}

function visibleLetter(viewer: Viewer): SQL | undefined {
  if (viewer.projects === "all") return undefined;
  return sql`exists (
    select from ${signalQueues}
    where ${signalQueues.name} = ${queue} and ${visibleTo(viewer, signalQueues.projectId)})`;
}

/** How many letters of each queue nobody has settled. */
export async function openLetters(orm: Orm, queues: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (queues.length === 0) return new Map();
  const rows = await read("the dead letters", () =>
    orm
      .select({ queue, open: count() })
      .from(signalDeadLetters)
      .where(and(eq(signalDeadLetters.state, "open"), inArray(queue, [...queues])))
      .groupBy(queue),
  );
  return new Map(rows.map((row) => [row.queue, row.open]));
}
