import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { systemRandom } from "@millrace/base/random";
import { connect, type Database } from "@millrace/db/connect";
import { type Lane, openLane } from "@millrace/db/lane";
import { freshDatabase } from "../../../test/services/database.ts";
import type { CommitContext } from "./commit-group.ts";
import type { WriterFailPoints } from "./failpoints.ts";
import { noMetrics } from "./metrics.ts";
import { commitOrSalvage } from "./salvage.ts";
import { pgCommitStore } from "./statements/pg-commit-store.ts";
import type { Reply, Work } from "./work.ts";
import { taskOf } from "./works.fixture.ts";

/** A database of the test's own and writers on it. */
export interface WriterBench {
  readonly url: string;
  readonly database: Database;
  /** One row, or undefined. */
  one(text: string, parameters?: unknown[]): Promise<Record<string, unknown> | undefined>;
  all(text: string, parameters?: unknown[]): Promise<Record<string, unknown>[]>;
  /** One more connection that commits; ended with the bench. */
  newContext(settings?: {
    resumeWithHole?: boolean;
    points?: WriterFailPoints;
    prepare?: boolean;
  }): CommitContext & { lane: Lane };
  /** Commits the works as one group; for each its reply, or why it waits. */
  commit(...works: Work[]): Promise<(Reply | string | undefined)[]>;
  commitWith(context: CommitContext, ...works: Work[]): Promise<(Reply | string | undefined)[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function writerBench(): Promise<WriterBench> {
  const fresh = await freshDatabase();
  const database = connect({ url: fresh.url, max: 2, name: "test" });
  const lanes: Lane[] = [];
  const newContext: WriterBench["newContext"] = (settings = {}) => {
    const lane = openLane({
      url: fresh.url,
      name: `test-writer-${lanes.length}`,
      prepare: settings.prepare ?? true,
    });
    lanes.push(lane);
    const points = settings.points ?? noFailPoints;
    return {
      lane,
      store: pgCommitStore(lane, points),
      clock: systemClock,
      random: systemRandom,
      resumeWithHole: settings.resumeWithHole ?? false,
      points,
      metrics: noMetrics,
    };
  };
  const usual = newContext();
  const commitWith: WriterBench["commitWith"] = async (context, ...works) => {
    const tasks = works.map(taskOf);
    await commitOrSalvage(tasks, context);
    return tasks.map((task) => task.reply() ?? task.item.wait);
  };
  const all: WriterBench["all"] = async (text, parameters = []) => [
    ...(await database.sql.unsafe(text, parameters as never[])),
  ];
  return {
    url: fresh.url,
    database,
    all,
    one: async (text, parameters) => (await all(text, parameters))[0],
    newContext,
    commitWith,
    commit: (...works) => commitWith(usual, ...works),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...lanes.map((lane) => lane.close()), database.close()]);
      await fresh.drop();
    },
  };
}
