import { signalBuilds } from "@millrace/db/schema/signal-builds";
import { signalFacts } from "@millrace/db/schema/signal-facts";
import { signalGates } from "@millrace/db/schema/signal-gates";
import { signalQueueConfigs } from "@millrace/db/schema/signal-queue-configs";
import { signalQueues } from "@millrace/db/schema/signal-queues";
import { signalRequestLog } from "@millrace/db/schema/signal-request-log";
import { signalRequests } from "@millrace/db/schema/signal-requests";
import { and, asc, desc, eq, gt, inArray, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { maySee, thisNode, type Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

export type RequestState = (typeof signalRequests.$inferSelect)["state"];

const name = sql<string>`coalesce(${signalQueues.name}, ${signalQueueConfigs.name})`;

const open = (state: RequestState): SQL<number> => sql<number>`(
  select count(*)::int from ${signalRequests}
  where ${signalRequests.queue} = ${signalQueues.name} and ${signalRequests.state} = ${state})`;

const shownQueue = {
  name,
  queue: signalQueues,
  config: signalQueueConfigs,
  gate: signalGates,
  waiting: open("accepted"),
  inProgress: open("processing"),
};

/** A queue that is configured, or has had requests, or both. */
export type QueueRow = Awaited<ReturnType<typeof listQueues>>[number];

/** By name. A queue of both belongs to the project of its requests. */
export async function listQueues(
  orm: Orm,
  viewer: Viewer,
  page: { project?: string | undefined; only?: string; after?: string | undefined; limit: number },
) {
  const { project } = page;
  const where = and(
    visibleQueue(viewer),
    project === undefined
      ? undefined
      : sql`coalesce(${signalQueues.projectId}, ${signalQueueConfigs.projectId}) = ${project}`,
    page.only === undefined ? undefined : eq(name, page.only),
    page.after === undefined ? undefined : gt(name, page.after),
  );
  return await read("the queues", () =>
    orm
      .select(shownQueue)
      .from(signalQueues)
      .fullJoin(signalQueueConfigs, eq(signalQueueConfigs.name, signalQueues.name))
      .leftJoin(signalGates, and(eq(signalGates.topic, "process"), eq(signalGates.partitionKey, name)))
      .where(where)
      .orderBy(asc(name))
      .limit(page.limit),
  );
}

function visibleQueue(viewer: Viewer): SQL | undefined {
  const byConfig = and(isNull(signalQueues.name), visibleTo(viewer, signalQueueConfigs.projectId));
  return or(visibleTo(viewer, signalQueues.projectId), byConfig);
}

/** The projects that a queue's requests and its configuration belong to, whoever asks; none: there is no such queue. */
export async function projectsOfQueue(orm: Orm, queue: string): Promise<string[]> {
  const rows = await listQueues(orm, thisNode, { only: queue, limit: 1 });
  return rows
    .flatMap((row) => [row.queue?.projectId, row.config?.projectId])
    .filter((id) => id !== undefined);
}

/** When the request ended; null while it runs, or when its log is not kept any more. */
const endedAt = sql<string | null>`(
  select max(${signalRequestLog.at}) from ${signalRequestLog}
  where ${signalRequestLog.requestId} = ${signalRequests.id}
    and ${signalRequestLog.toState} not in ('accepted', 'processing'))`;

/** A request with its build and what came of it. */
export type RequestRow = Awaited<ReturnType<typeof listRequests>>[number];

/** Requests of a queue, newest first. */
export async function listRequests(
  orm: Orm,
  viewer: Viewer,
  page: {
    queue: string;
    states?: readonly RequestState[] | undefined;
    only?: number;
    before?: number | undefined;
    limit: number;
  },
) {
  const where = and(
    eq(signalRequests.queue, page.queue),
    visibleTo(viewer, signalQueues.projectId),
    page.states === undefined ? undefined : inArray(signalRequests.state, [...page.states]),
    page.only === undefined ? undefined : eq(signalRequests.number, page.only),
    page.before === undefined ? undefined : lt(signalRequests.number, page.before),
  );
  return await read("the requests", () =>
    orm
      .select({ request: signalRequests, build: signalBuilds, degree: signalFacts.degree, endedAt })
      .from(signalRequests)
      .innerJoin(signalQueues, eq(signalQueues.name, signalRequests.queue))
      .leftJoin(signalBuilds, eq(signalBuilds.id, signalRequests.buildId))
      .leftJoin(signalFacts, ofRequest)
      .where(where)
      .orderBy(desc(signalRequests.number))
      .limit(page.limit),
  );
}

/** A fact belongs to the request that found it out. */
const ofRequest = and(
  eq(signalFacts.queue, signalRequests.queue),
  eq(signalFacts.uri, signalRequests.uri),
  eq(signalFacts.part, ""),
  eq(signalFacts.requestId, signalRequests.id),
);

const logLinesMax = 200;

/** All builds and the changes of state of one request, which the viewer may see. */
export async function requestHistory(orm: Orm, requestId: string) {
  return await read("the request's history", async () => {
    const builds = await orm
      .select()
      .from(signalBuilds)
      .where(eq(signalBuilds.requestId, requestId))
      .orderBy(asc(signalBuilds.createdAt), asc(signalBuilds.id))
      .limit(logLinesMax);
    const log = await orm
      .select()
      .from(signalRequestLog)
      .where(eq(signalRequestLog.requestId, requestId))
      .orderBy(asc(signalRequestLog.id))
      .limit(logLinesMax);
    return { builds, log };
  });
}

/** A queue's configuration as it was given; for those who administer. */
export async function findQueueConfig(orm: Orm, viewer: Viewer, queue: string) {
  const [row] = await read("the configuration", () =>
    orm.select().from(signalQueueConfigs).where(eq(signalQueueConfigs.name, queue)),
  );
  return row === undefined || !maySee(viewer, row.projectId) ? undefined : row;
}
