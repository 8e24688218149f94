import { readBuilds } from "../queries/builds.ts";
import { countsOf } from "../queries/counts.ts";
import type { Orm } from "../queries/read.ts";
import { newestAttempt, runningStates, watchedStates } from "../queries/watch.ts";
import { buildRecord } from "../query/build-record.ts";
import { presentBuilds } from "../resources/build.ts";
import { thisNode } from "../viewer.ts";
import type { LiveStore } from "./live-store.ts";

export function databaseLiveStore(orm: Orm): LiveStore {
  return {
    builds: async (project, invocationIds) => {
      const rows = await readBuilds(orm, thisNode, { project, invocationIds });
      const builds = presentBuilds(rows, await countsOf(orm, thisNode, rows));
      return builds.flatMap((build, at) => {
        const row = rows[at];
        return row === undefined ? [] : [{ build, record: buildRecord(row.invocation) }];
      });
    },
    watched: (names) => watchedStates(orm, thisNode, names),
    running: (projects, newest) => runningStates(orm, thisNode, { projects, newest }),
    newest: () => newestAttempt(orm, thisNode),
  };
}
