import type { SignalQueue } from "@millrace/client/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo } from "react";
import { RowTable } from "../build/row-table.tsx";
import { wordsOf } from "../search.ts";
import { Choice } from "../widgets/choice.tsx";
import { Failure, Note } from "../widgets/note.tsx";
import { SkeletonRows } from "../widgets/skeleton.tsx";
import { TimeAgo } from "../widgets/times.tsx";
import { QueueFacts } from "./queue-facts.tsx";
import { QueueList } from "./queue-list.tsx";
import { requestColumns } from "./request-columns.tsx";
import { RequestPanel } from "./request-panel.tsx";
import { type RequestState, signalQueuesQuery, signalRequestsQuery } from "./signal-queries.ts";
import styles from "./signals-page.module.css";
import type { SignalsSearch } from "./signals-search.ts";

const route = getRouteApi("/p/$project/signals");

const states = [
  { value: "", label: "All" },
  { value: "accepted,processing", label: "Under way" },
  { value: "succeeded", label: "Green" },
  { value: "failed", label: "Not green" },
  { value: "superseded,cancelled", label: "Dropped" },
];
const knownStates = new Set(states.flatMap(({ value }) => value.split(",")));

/** Whether commits are green: queues, who holds their slots, their requests, and what was found out. */
export function SignalsPage() {
  const { project } = route.useParams();
  const search = route.useSearch();
  const { data: queues, error, refetch } = useQuery(signalQueuesQuery(project));
  useEffect(() => {
    document.title = `Signals · ${project} · Millrace`;
  }, [project]);
  if (queues === undefined) {
    return error === null ? (
      <main className={styles.page}>
        <SkeletonRows count={10} height={36} />
      </main>
    ) : (
      <Failure error={error} retry={() => void refetch()} />
    );
  }
  if (queues.length === 0) return <NoQueues />;
  const shown = queues.find((queue) => queue.name === search.queue) ?? queues[0];
  return (
    <main className={styles.page}>
      <h1 className="visually-hidden">Signals</h1>
      <div className={styles.columns}>
        <QueueList project={project} queues={queues} shown={shown?.name} />
        {shown === undefined ? null : <Requests key={shown.name} project={project} queue={shown} />}
      </div>
    </main>
  );
}

function useChange(): (more: { [K in keyof SignalsSearch]?: SignalsSearch[K] | undefined }) => void {
  const navigate = useNavigate();
  return (more) => {
    const search = (before: SignalsSearch) => {
      const all = Object.entries({ ...before, ...more });
      return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== ""));
    };
    void navigate({ to: ".", search, replace: true });
  };
}

function Requests(props: { project: string; queue: SignalQueue }) {
  const { project, queue } = props;
  const search = route.useSearch();
  const change = useChange();
  const wanted = useMemo(() => statesOf(search.state), [search.state]);
  const query = useInfiniteQuery(signalRequestsQuery(queue.name, wanted));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data]);
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <section className={styles.requests} aria-label={`Requests of ${queue.name}`}>
      <div className={styles.bar}>
        <Choice
          label="State"
          options={states}
          value={search.state ?? ""}
          onChange={(state) => change({ state, request: undefined })}
        />
      </div>
      <QueueFacts queue={queue} onOpen={(request) => change({ request })} />
      {queue.stopped === null ? null : <Stopped {...queue.stopped} />}
      <div className={styles.body}>
        {error !== null && data === undefined ? (
          <Failure error={error} retry={() => void query.refetch()} />
        ) : null}
        {data === undefined && error === null ? (
          <div className={styles.none}>
            <SkeletonRows count={10} height={36} />
          </div>
        ) : null}
        {data !== undefined && rows.length === 0 ? (
          <div className={styles.none}>
            <Nothing queue={queue.name} isFiltered={wanted !== undefined} />
          </div>
        ) : null}
        {rows.length > 0 ? (
          <RowTable
            label="Requests"
            columns={requestColumns}
            rows={rows}
            keyOf={(row) => row.id}
            selected={search.request === undefined ? undefined : `request/${queue.name}/${search.request}`}
            onSelect={(row) => change({ request: row?.number })}
            onEnd={onEnd}
            isComplete={!hasNextPage}
          />
        ) : null}
        {search.request === undefined ? null : (
          <RequestPanel
            project={project}
            queue={queue.name}
            number={search.request}
            onClose={() => change({ request: undefined })}
          />
        )}
      </div>
    </section>
  );
}

/** States in an address that there are; others are passed over. */
function statesOf(list: string | undefined): RequestState[] | undefined {
  const known = wordsOf(list)?.filter((word) => knownStates.has(word)) as RequestState[] | undefined;
  return known === undefined || known.length === 0 ? undefined : known;
}

function Stopped(props: { since: string; reason: string }) {
  return (
    <p className={styles.stopped} role="status">
      Stopped by an operator <TimeAgo time={props.since} suffix=" ago" />
      {props.reason === "" ? "" : `: ${props.reason}`}. What is being validated goes on; nothing new is
      admitted.
    </p>
  );
}

function Nothing(props: { queue: string; isFiltered: boolean }) {
  if (props.isFiltered) return <Note title="No request is in this state" />;
  return (
    <Note title="No commit was announced yet">
      <p>
        Announce one with <code>millrace signal ingest {props.queue} COMMIT</code>; it appears here by itself.
      </p>
    </Note>
  );
}

function NoQueues() {
  return (
    <Note title="No queue validates commits yet">
      <p>
        A queue answers whether a commit is green, for merge queues and deployments. Name its runner in the
        file that <code>MILLRACE_SIGNAL_CONFIG</code> points to; docs/buildsignal.md says how.
      </p>
    </Note>
  );
}
