import type { Test } from "@millrace/client/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { testsQuery } from "../api/queries.ts";
import { durationText } from "../format/duration.ts";
import { wordsOf } from "../search.ts";
import { failedTestStatuses, testLook } from "../status/status.ts";
import { Choice } from "../widgets/choice.tsx";
import { Failure, Note } from "../widgets/note.tsx";
import { SearchField } from "../widgets/search-field.tsx";
import { SkeletonRows } from "../widgets/skeleton.tsx";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { type Column, RowTable } from "./row-table.tsx";
import styles from "./table-tab.module.css";
import { TestPanel } from "./test-panel.tsx";
import { useShownInvocation } from "./use-shown-invocation.ts";
import { useTableSearch } from "./use-table-search.ts";

const route = getRouteApi("/p/$project/i/$invocationId");

const statuses = [
  { value: "", label: "All" },
  { value: failedTestStatuses.join(","), label: "Failed" },
  { value: "FLAKY", label: "Flaky" },
  { value: "PASSED", label: "Passed" },
  { value: "NO_STATUS,INCOMPLETE,TOOL_HALTED_BEFORE_TESTING", label: "Not run" },
];

const columns: readonly Column<Test>[] = [
  {
    name: "Test",
    track: "minmax(0, 1fr)",
    cell: (test) => (
      <span className={styles.label}>
        <StatusGlyph look={testLook(test.status)} />
        <code title={test.label}>{test.label}</code>
      </span>
    ),
  },
  { name: "Status", track: "110px", isExtra: true, cell: (test) => testLook(test.status).word },
  {
    name: "Executions",
    track: "150px",
    isExtra: true,
    cell: (test) => <span className={styles.faint}>{executionsText(test)}</span>,
  },
  {
    name: "Time",
    track: "72px",
    isRight: true,
    cell: (test) => (test.durationMs === null ? null : durationText(test.durationMs)),
  },
];

/** `3 runs, 2 shards, cached`; empty for a test that simply ran once. */
export function executionsText(test: Test): string {
  const parts = [
    test.runs > 1 ? `${test.runs} runs` : "",
    test.shards > 1 ? `${test.shards} shards` : "",
    test.attempts > 1 ? `${test.attempts} attempts` : "",
    test.cached > 0 ? "cached" : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const keyOf = (test: Test): string => `${test.label} ${test.configuration}`.trim();

export function TestsTab() {
  const build = useShownInvocation();
  const search = route.useSearch();
  const change = useTableSearch();
  const name = { project: build.project, invocationId: build.invocationId, attempt: build.attempt };
  const query = useInfiniteQuery(testsQuery(name, { status: wordsOf(search.status), contains: search.q }));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data]);
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const selected =
    rows.find((row) => keyOf(row) === search.row) ?? rows.find((row) => row.label === search.row);
  return (
    <div className={styles.tab}>
      <div className={styles.bar}>
        <Choice
          label="Status"
          options={statuses}
          value={search.status ?? ""}
          onChange={(status) => change({ status })}
        />
        <SearchField label="Filter by label" value={search.q ?? ""} onChange={(q) => change({ q })} />
      </div>
      <div className={styles.body}>
        {error !== null && data === undefined ? (
          <Failure error={error} retry={() => void query.refetch()} />
        ) : null}
        {data === undefined && error === null ? (
          <div className={styles.none}>
            <SkeletonRows count={12} height={36} />
          </div>
        ) : null}
        {data !== undefined && rows.length === 0 ? (
          <div className={styles.none}>
            <Note title="No test fits" />
          </div>
        ) : null}
        {rows.length > 0 ? (
          <RowTable
            label="Tests"
            columns={columns}
            rows={rows}
            keyOf={keyOf}
            selected={selected === undefined ? undefined : keyOf(selected)}
            onSelect={(row) => change({ row: row === undefined ? "" : keyOf(row) })}
            onEnd={onEnd}
            isComplete={!hasNextPage}
          />
        ) : null}
        {selected === undefined ? null : (
          <TestPanel name={name} test={selected} onClose={() => change({ row: "" })} />
        )}
      </div>
    </div>
  );
}
