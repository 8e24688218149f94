import type { Invocation, LiveState, Target, Test } from "@millrace/client/client";
import { type InfiniteData, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type LiveLink, useFollow } from "./follow.ts";
import { mergeRows, type RowKind } from "./merge-rows.ts";
import { type AttemptRef, type Page, type RowFilter, rowsOfLabels } from "./queries.ts";

const targetRows: RowKind<Target> = {
  place: (row) => [row.label, row.aspect, row.configuration],
  status: (row) => row.status,
  label: (row) => row.label,
};

const testRows: RowKind<Test> = {
  place: (row) => [row.label, row.configuration],
  status: (row) => row.status,
  label: (row) => row.label,
};

/** Tables are read anew at most this often, when more changed than can be named. */
const reloadPeriodMs = 1_500;

/** Keeps an invocation and its loaded rows as the server has them. `shown` is the attempt on the page. */
export function useLiveInvocation(
  name: { project: string; invocationId: string },
  shown: number | undefined,
): LiveLink {
  const queries = useQueryClient();
  const reload = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(reload.current), []);
  const path = `/api/v1/projects/${encodeURIComponent(name.project)}/invocations/${encodeURIComponent(name.invocationId)}/live`;
  return useFollow(path, (event) => {
    if (event.name !== "state") return;
    const state = event.data as LiveState;
    updateInvocation(queries, name, state);
    const attempt = state.build.attempt;
    if (state.build.status !== "running") invalidateSaid(queries, { ...name, attempt });
    const isShown = state.changedAttempt === 0 || state.changedAttempt === shown;
    if (!isShown || shown === undefined) return;
    if (state.allChanged) {
      reload.current ??= setTimeout(
        () => {
          reload.current = undefined;
          invalidateRows(queries, { ...name, attempt: shown });
        },
        state.build.status === "running" ? reloadPeriodMs : 0,
      );
    } else if (state.changedLabels.length > 0) {
      void mergeLabels(queries, { ...name, attempt }, state.changedLabels);
    }
  });
}

function updateInvocation(
  queries: QueryClient,
  name: { project: string; invocationId: string },
  { build }: LiveState,
): void {
  const key = ["invocation", name.project, name.invocationId];
  for (const query of queries.getQueryCache().findAll({ queryKey: key })) {
    const known = query.state.data as Invocation | undefined;
    if (known === undefined) continue;
    const isNews = known.attempts[0]?.attempt !== build.attempt || known.attempts[0]?.status !== build.status;
    // The details that a live state leaves out change at the beginning and at the end.
    if (isNews || (known.attempt === build.attempt && known.toolVersion === null)) {
      void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }
    if (known.attempt !== build.attempt || build.lastSequence < known.lastSequence) continue;
    // A list shows fewer patterns than the page.
    queries.setQueryData<Invocation>(query.queryKey, { ...known, ...build, patterns: known.patterns });
  }
}

function rowKeys(name: AttemptRef): unknown[][] {
  return ["targets", "tests", "test-results"].map((table) => [
    table,
    name.project,
    name.invocationId,
    name.attempt,
  ]);
}

function invalidateRows(queries: QueryClient, name: AttemptRef): void {
  for (const queryKey of rowKeys(name)) void queries.invalidateQueries({ queryKey });
}

/** What Bazel says of the build as a whole comes at its beginning and its end. */
function invalidateSaid(queries: QueryClient, { project, invocationId, attempt }: AttemptRef): void {
  for (const what of ["details", "metrics", "actions"]) {
    void queries.invalidateQueries({ queryKey: [what, project, invocationId, attempt] });
  }
}

async function mergeLabels(queries: QueryClient, name: AttemptRef, labels: string[]): Promise<void> {
  const loaded = rowKeys(name).flatMap((queryKey) => queries.getQueryCache().findAll({ queryKey }));
  if (loaded.length === 0) return;
  try {
    const { targets, tests } = await rowsOfLabels(name, labels);
    mergeInto(queries, ["targets", name.project, name.invocationId, name.attempt], {
      rows: targets,
      kind: targetRows,
    });
    mergeInto(queries, ["tests", name.project, name.invocationId, name.attempt], {
      rows: tests,
      kind: testRows,
    });
    void queries.invalidateQueries({
      queryKey: ["test-results", name.project, name.invocationId, name.attempt],
    });
  } catch {
    // Read with everything else when the server is well again.
    invalidateRows(queries, name);
  }
}

function mergeInto<T>(
  queries: QueryClient,
  queryKey: unknown[],
  what: { rows: T[]; kind: RowKind<T> },
): void {
  for (const query of queries.getQueryCache().findAll({ queryKey })) {
    const filter = query.queryKey[4] as RowFilter;
    queries.setQueryData<InfiniteData<Page<T>>>(query.queryKey, (data) =>
      data === undefined
        ? data
        : { ...data, pages: mergeRows(data.pages, what.rows, { kind: what.kind, filter }) },
    );
  }
}
