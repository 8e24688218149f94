import { projects } from "@millrace/db/schema/projects";
import { and, asc, eq, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

export interface ProjectRow {
  readonly id: string;
  readonly name: string;
}

const projectsMax = 1_000;

/** Projects the viewer may see, by id. */
export async function listProjects(orm: Orm, viewer: Viewer): Promise<ProjectRow[]> {
  return read("the projects", () =>
    orm
      .select({ id: projects.id, name: projects.name })
      .from(projects)
      .where(visibleTo(viewer, projects.id))
      .orderBy(asc(projects.id))
      .limit(projectsMax),
  );
}

export async function projectExists(orm: Orm, viewer: Viewer, id: string): Promise<boolean> {
  const rows = await read("the projects", () =>
    orm
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.id, id), visibleTo(viewer, projects.id)))
      .limit(1),
  );
  return rows.length > 0;
}

/** Whether the database answers. */
export async function ping(orm: Orm): Promise<void> {
  await read("nothing", () => orm.execute(sql`select 1`));
}
