import type { Build } from "@millrace/client/client";
import type { InfiniteData } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { type LiveLink, useFollow } from "./follow.ts";
import { mergeBuild } from "./merge-builds.ts";
import type { BuildFilter, Page } from "./queries.ts";

/** Keeps every loaded list of a project's builds as the server has it. */
export function useLiveBuilds(project: string): LiveLink {
  const queries = useQueryClient();
  return useFollow(`/api/v1/projects/${encodeURIComponent(project)}/live`, (event) => {
    if (event.name === "reset") void queries.invalidateQueries({ queryKey: ["builds", project] });
    if (event.name !== "build") return;
    const { build } = event.data as { build: Build };
    for (const query of queries.getQueryCache().findAll({ queryKey: ["builds", project] })) {
      const filter = query.queryKey[2] as BuildFilter;
      queries.setQueryData<InfiniteData<Page<Build>>>(query.queryKey, (data) =>
        data === undefined ? data : { ...data, pages: mergeBuild(data.pages, build, filter) },
      );
    }
  });
}
