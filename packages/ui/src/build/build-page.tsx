import { getRouteApi, Outlet } from "@tanstack/react-router";
import { useEffect } from "react";
import { useLiveInvocation } from "../api/use-live-invocation.ts";
import { buildLooks } from "../status/status.ts";
import { Failure } from "../widgets/note.tsx";
import { SkeletonRows } from "../widgets/skeleton.tsx";
import { BuildHeader } from "./build-header.tsx";
import styles from "./build-page.module.css";
import { BuildTabs } from "./build-tabs.tsx";
import { useInvocationQuery } from "./use-shown-invocation.ts";

const route = getRouteApi("/p/$project/i/$invocationId");

export function BuildPage() {
  const { project, invocationId } = route.useParams();
  const { data: build, error, refetch } = useInvocationQuery();
  const link = useLiveInvocation({ project, invocationId }, build?.attempt);
  useEffect(() => {
    const what =
      build === undefined ? invocationId : `${buildLooks[build.status].word}: ${build.command ?? "build"}`;
    document.title = `${what} · Millrace`;
  }, [build, invocationId]);
  if (build === undefined) {
    return (
      <main className={styles.page}>
        {error === null ? (
          <SkeletonRows count={3} height={44} />
        ) : (
          <Failure error={error} retry={() => void refetch()} />
        )}
      </main>
    );
  }
  return (
    <main className={styles.page}>
      <BuildHeader build={build} link={link} />
      <BuildTabs build={build} />
      <div className={styles.tab}>
        <Outlet />
      </div>
    </main>
  );
}
