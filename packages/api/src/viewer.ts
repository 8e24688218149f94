/**
 * Who reads. The project is a hard boundary: nothing of a project outside this set is shown, counted or
 * confirmed to exist.
 */
export interface Viewer {
  readonly projects: "all" | ReadonlySet<string>;
}

/** Decides who a request comes from; a `Response` says why it may not read at all. */
export type ViewerOf = (request: Request) => Promise<Viewer | Response>;

/** Open mode: whoever reaches the server sees every project. */
export const openMode: ViewerOf = async () => ({ projects: "all" });

/** The process itself, reading for all its viewers at once; what it reads goes only to those who may see it. */
export const thisNode: Viewer = { projects: "all" };

export function maySee(viewer: Viewer, project: string): boolean {
  return viewer.projects === "all" || viewer.projects.has(project);
}
