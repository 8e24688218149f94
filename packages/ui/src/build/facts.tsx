import type { Invocation } from "@millrace/client/client";
import type { ReactNode } from "react";
import { bytesText, countText } from "../format/amounts.ts";
import { durationText } from "../format/duration.ts";
import styles from "./facts.module.css";

/** A build in numbers. */
export function Facts(props: { build: Invocation }) {
  const { build } = props;
  const { targets, tests } = build;
  return (
    <aside className={styles.facts} aria-label="Numbers">
      <dl>
        {targets.total > 0 ? (
          <Fact label="Targets">
            {countText(targets.total)}
            <Parts
              parts={[
                [targets.total - targets.done, "pending"],
                [targets.failed, "failed"],
              ]}
            />
          </Fact>
        ) : null}
        {tests.total > 0 ? (
          <Fact label="Tests">
            {countText(tests.total)}
            <Parts
              parts={[
                [tests.failed, "failed"],
                [tests.flaky, "flaky"],
                [skipped(build), "other"],
              ]}
            />
          </Fact>
        ) : null}
        {build.actionsExecuted === null ? null : (
          <Fact label="Actions">{countText(build.actionsExecuted)}</Fact>
        )}
        {build.wallTimeMs === null ? null : <Fact label="Wall time">{durationText(build.wallTimeMs)}</Fact>}
        {build.cpuTimeMs === null ? null : <Fact label="CPU time">{durationText(build.cpuTimeMs)}</Fact>}
        <Fact label="Log">
          {bytesText(build.logBytes)}
          {build.logLines > 0 ? <Note>{countText(build.logLines)} lines</Note> : null}
        </Fact>
        <Fact label="Events">{countText(build.lastSequence)}</Fact>
        {build.undecodedEvents > 0 ? (
          <Fact label="Not decoded">{countText(build.undecodedEvents)}</Fact>
        ) : null}
      </dl>
    </aside>
  );
}

function skipped(build: Invocation): number {
  const { total, passed, failed, flaky } = build.tests;
  return total - passed - failed - flaky;
}

function Fact(props: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

function Note(props: { children: ReactNode }) {
  return <span className={styles.note}>{props.children}</span>;
}

function Parts(props: { parts: [number, string][] }) {
  const shown = props.parts.filter(([count]) => count > 0);
  if (shown.length === 0) return null;
  return <Note>{shown.map(([count, word]) => `${countText(count)} ${word}`).join(", ")}</Note>;
}
