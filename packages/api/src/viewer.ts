import { type AnyColumn, type SQL, sql } from "drizzle-orm";

/**
 * Who reads. The project is a hard boundary: nothing of a project outside this set is shown, counted or
 * confirmed to exist.
 */
export interface Viewer {
  readonly projects: "all" | ReadonlySet<string>;
}

/** Decides who a request comes from. */
export type ViewerOf = (request: Request) => Promise<Viewer>;

/** Open mode: whoever reaches the server sees every project. */
export const openMode: ViewerOf = async () => ({ projects: "all" });

export function maySee(viewer: Viewer, project: string): boolean {
  return viewer.projects === "all" || viewer.projects.has(project);
}

/**
 * The restriction that every read of the API carries, on the project column of each table it reads.
 * There is no other way from a viewer to rows.
 */
export function visibleTo(viewer: Viewer, projectColumn: AnyColumn | SQL): SQL {
  if (viewer.projects === "all") return sql`true`;
  return sql`${projectColumn} = any(${sql.param([...viewer.projects])}::text[])`;
}
