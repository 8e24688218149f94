import type { Build } from "@millrace/client/client";
import { Link } from "@tanstack/react-router";
import { buildLooks } from "../status/status.ts";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { Strip } from "../widgets/strip.tsx";
import { BuildDuration, TimeAgo } from "../widgets/times.tsx";
import styles from "./build-row.module.css";
import { TestCounts } from "./test-counts.tsx";

export const rowHeight = 40;
export const narrowRowHeight = 66;

/** One build in the list. On a phone the same parts stand in two lines. */
export function BuildRow(props: { build: Build }) {
  const { build } = props;
  return (
    <Link
      to="/p/$project/i/$invocationId"
      params={{ project: build.project, invocationId: build.invocationId }}
      className={styles.row}
      data-row
    >
      <span className={styles.glyph}>
        <StatusGlyph look={buildLooks[build.status]} />
      </span>
      <What build={build} />
      <span className={styles.who} title={[build.user, build.host].filter(Boolean).join(" on ")}>
        {build.user ?? "–"}
        {build.host === null ? null : <span className={styles.faint}> {build.host}</span>}
      </span>
      <span className={styles.where} title={[build.branch, build.commit].filter(Boolean).join(" ")}>
        {build.branch === null ? null : <span className={styles.branch}>{build.branch}</span>}
        {build.commit === null ? null : <code className={styles.faint}>{build.commit.slice(0, 8)}</code>}
      </span>
      <span className={styles.strip}>
        <Strip build={build} />
      </span>
      <span className={styles.duration}>
        <BuildDuration build={build} />
      </span>
      <span className={styles.tests}>
        <TestCounts build={build} />
      </span>
      <span className={styles.age}>
        <TimeAgo time={build.startedAt ?? build.createdAt} />
      </span>
    </Link>
  );
}

function What(props: { build: Build }) {
  const { build } = props;
  const more = build.patternCount - build.patterns.length;
  return (
    <span className={styles.what}>
      <span className={styles.command}>{build.command ?? "…"}</span>
      <code className={styles.patterns}>
        {build.patterns.join(" ")}
        {more > 0 ? ` +${more}` : ""}
      </code>
      {build.attempt > 1 ? <span className={styles.attempt}>attempt {build.attempt}</span> : null}
    </span>
  );
}
