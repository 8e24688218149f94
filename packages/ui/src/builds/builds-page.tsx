import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo } from "react";
import { buildsQuery } from "../api/queries.ts";
import { useLiveBuilds } from "../api/use-live-builds.ts";
import { statusesOf, wordsOf } from "../search.ts";
import { LiveMark } from "../widgets/live-mark.tsx";
import { Failure, Note } from "../widgets/note.tsx";
import { SkeletonRows } from "../widgets/skeleton.tsx";
import { BuildList } from "./build-list.tsx";
import { rowHeight } from "./build-row.tsx";
import { BuildsFilter } from "./builds-filter.tsx";
import styles from "./builds-page.module.css";
import { FirstRun } from "./first-run.tsx";

const route = getRouteApi("/p/$project");

export function BuildsPage() {
  const { project } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const filter = useMemo(
    () => ({
      status: statusesOf(search.status),
      command: wordsOf(search.command),
      user: wordsOf(search.user),
    }),
    [search.status, search.command, search.user],
  );
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery(buildsQuery(project, filter));
  const link = useLiveBuilds(project);
  useEffect(() => {
    document.title = `Builds · ${project} · Millrace`;
  }, [project]);
  const builds = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data]);
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const isFiltered = Object.keys(search).length > 0;
  if (data !== undefined && builds.length === 0 && !isFiltered) return <FirstRun />;
  return (
    <main className={styles.page}>
      <header className={styles.header}>
        <h1 className={styles.title}>Builds</h1>
        <BuildsFilter project={project} search={search} />
        <LiveMark link={link} />
      </header>
      {error !== null && data === undefined ? <Failure error={error} retry={() => void refetch()} /> : null}
      {isPending ? <SkeletonRows count={14} height={rowHeight} /> : null}
      {data !== undefined && builds.length === 0 ? (
        <Note title="No build fits">
          <button
            type="button"
            className={styles.clear}
            onClick={() => void navigate({ to: "/p/$project", params: { project }, search: {} })}
          >
            Show all builds
          </button>
        </Note>
      ) : null}
      {builds.length > 0 ? <BuildList builds={builds} onEnd={onEnd} isComplete={!hasNextPage} /> : null}
    </main>
  );
}
