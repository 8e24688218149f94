import { signalBuilds } from "@millrace/db/schema/signal-builds";
import { signalFacts } from "@millrace/db/schema/signal-facts";
import { signalQueues } from "@millrace/db/schema/signal-queues";
import { signalRequestUris } from "@millrace/db/schema/signal-request-uris";
import { signalRequests } from "@millrace/db/schema/signal-requests";
import { and, eq } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

/** What is known about a commit of a queue. All of a commit is null when the queue has not heard of it. */
export interface CommitRow {
  readonly lastGreenUri: string;
  readonly degree: number | null;
  readonly recordedAt: Date | null;
  readonly requestId: string | null;
  readonly state: string | null;
  readonly reason: string | null;
  readonly buildUrl: string | null;
}

/** Undefined when there is no such queue for this viewer. */
export async function findCommit(
  orm: Orm,
  viewer: Viewer,
  which: { queue: string; uri: string },
): Promise<CommitRow | undefined> {
  const { queue, uri } = which;
  const ofCommit = and(eq(signalRequestUris.queue, signalQueues.name), eq(signalRequestUris.uri, uri));
  const factOfCommit = and(
    eq(signalFacts.queue, signalQueues.name),
    eq(signalFacts.uri, uri),
    eq(signalFacts.part, ""),
  );
  const [row] = await read("the commit", () =>
    orm
      .select({
        lastGreenUri: signalQueues.lastGreenUri,
        degree: signalFacts.degree,
        recordedAt: signalFacts.createdAt,
        requestId: signalRequests.id,
        state: signalRequests.state,
        reason: signalRequests.reason,
        buildUrl: signalBuilds.url,
      })
      .from(signalQueues)
      .leftJoin(signalRequestUris, ofCommit)
      .leftJoin(signalRequests, eq(signalRequests.id, signalRequestUris.requestId))
      .leftJoin(signalBuilds, eq(signalBuilds.id, signalRequests.buildId))
      .leftJoin(signalFacts, factOfCommit)
      .where(and(eq(signalQueues.name, queue), visibleTo(viewer, signalQueues.projectId)))
      .limit(1),
  );
  return row;
}
