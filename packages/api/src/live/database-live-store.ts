import { readBuilds } from "../queries/builds.ts";
import { countsOf } from "../queries/counts.ts";
import type { Orm } from "../queries/read.ts";
import { newestAttempt, runningStates, watchedStates } from "../queries/watch.ts";
import { presentBuilds } from "../resources/build.ts";
import { thisNode } from "../viewer.ts";
import type { LiveStore } from "./live-store.ts";

export function databaseLiveStore(orm: Orm): LiveStore {
  return {
    builds: async (project, invocationIds) => {
      const rows = await readBuilds(orm, thisNode, { project, invocationIds });
      return presentBuilds(rows, await countsOf(orm, thisNode, rows));
    },
    watched: (names) => watchedStates(orm, thisNode, names),
    running: (projects, newest) => runningStates(orm, thisNode, { projects, newest }),
    newest: () => newestAttempt(orm, thisNode),
  };
}
