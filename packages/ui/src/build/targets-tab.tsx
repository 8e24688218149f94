import type { Target } from "@millrace/client/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { targetsQuery } from "../api/queries.ts";
import { wordsOf } from "../search.ts";
import { targetLooks } from "../status/status.ts";
import { Choice } from "../widgets/choice.tsx";
import { CopyButton } from "../widgets/copy-button.tsx";
import { Failure, Note } from "../widgets/note.tsx";
import { SearchField } from "../widgets/search-field.tsx";
import { SkeletonRows } from "../widgets/skeleton.tsx";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { ExactTime, TimeAgo } from "../widgets/times.tsx";
import panelStyles from "./panel-content.module.css";
import { type Column, RowTable } from "./row-table.tsx";
import { PanelFact, SidePanel } from "./side-panel.tsx";
import styles from "./table-tab.module.css";
import { useShownInvocation } from "./use-shown-invocation.ts";
import { useTableSearch } from "./use-table-search.ts";

const route = getRouteApi("/p/$project/i/$invocationId");

const statuses = [
  { value: "", label: "All" },
  { value: "failed", label: "Failed" },
  { value: "built", label: "Built" },
  { value: "configured", label: "Pending" },
  { value: "skipped", label: "Skipped" },
  { value: "aborted,not-built", label: "Not built" },
];

const columns: readonly Column<Target>[] = [
  {
    name: "Target",
    track: "minmax(0, 1fr)",
    cell: (target) => (
      <span className={styles.label}>
        <StatusGlyph look={targetLooks[target.status]} />
        <code title={target.label}>{target.label}</code>
        {target.aspect === "" ? null : <code className={styles.faint}>{target.aspect}</code>}
      </span>
    ),
  },
  {
    name: "Kind",
    track: "170px",
    isExtra: true,
    cell: (target) => <span className={styles.faint}>{target.kind?.replace(/ rule$/, "")}</span>,
  },
  {
    name: "Status",
    track: "90px",
    isExtra: true,
    cell: (target) => targetLooks[target.status].word,
  },
  {
    name: "Finished",
    track: "64px",
    isRight: true,
    cell: (target) =>
      target.completedAt === null ? null : (
        <span className={styles.faint}>
          <TimeAgo time={target.completedAt} />
        </span>
      ),
  },
];

const keyOf = (target: Target): string =>
  [target.label, target.aspect, target.configuration].join(" ").trim();

export function TargetsTab() {
  const build = useShownInvocation();
  const search = route.useSearch();
  const change = useTableSearch();
  const query = useInfiniteQuery(
    targetsQuery(
      { project: build.project, invocationId: build.invocationId, attempt: build.attempt },
      { status: wordsOf(search.status), contains: search.q },
    ),
  );
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
            <Note title="No target fits" />
          </div>
        ) : null}
        {rows.length > 0 ? (
          <RowTable
            label="Targets"
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
          <TargetPanel target={selected} onClose={() => change({ row: "" })} />
        )}
      </div>
    </div>
  );
}

function TargetPanel(props: { target: Target; onClose: () => void }) {
  const { target } = props;
  const look = targetLooks[target.status];
  return (
    <SidePanel title={target.label} onClose={props.onClose}>
      <p className={panelStyles.status}>
        <StatusGlyph look={look} isDecorative />
        {look.word}
        {target.abortReason === null ? "" : `: ${target.abortReason}`}
      </p>
      {target.failureMessage === null ? null : (
        <pre className={panelStyles.message}>{target.failureMessage}</pre>
      )}
      <p className={panelStyles.copy}>
        <CopyButton text={`bazel build ${target.label}`} label="Copy the build command" />
      </p>
      <dl className={panelStyles.facts}>
        <PanelFact label="Kind">{target.kind}</PanelFact>
        <PanelFact label="Aspect">{target.aspect}</PanelFact>
        <PanelFact label="Configuration">
          {target.configuration === "" ? null : <code>{target.configuration}</code>}
        </PanelFact>
        <PanelFact label="Test size">{target.testSize}</PanelFact>
        <PanelFact label="Tags">{target.tags.join(", ")}</PanelFact>
        <PanelFact label="Finished">
          {target.completedAt === null ? null : <ExactTime time={target.completedAt} />}
        </PanelFact>
      </dl>
    </SidePanel>
  );
}
