import type { Test, TestResult } from "@millrace/client/client";
import { useQuery } from "@tanstack/react-query";
import { type AttemptRef, testResultsQuery } from "../api/queries.ts";
import { durationText } from "../format/duration.ts";
import { testLook } from "../status/status.ts";
import { CopyButton } from "../widgets/copy-button.tsx";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { ExactTime } from "../widgets/times.tsx";
import styles from "./panel-content.module.css";
import { PanelFact, SidePanel } from "./side-panel.tsx";

/** A test with every execution: run, shard, attempt, and where its outputs are. */
export function TestPanel(props: { name: AttemptRef; test: Test; onClose: () => void }) {
  const { test } = props;
  const look = testLook(test.status);
  const place = { label: test.label, configuration: test.configuration };
  const results = useQuery(testResultsQuery(props.name, place)).data?.results ?? [];
  return (
    <SidePanel title={test.label} onClose={props.onClose}>
      <p className={styles.status}>
        <StatusGlyph look={look} isDecorative />
        {look.word}
        {test.durationMs === null ? null : (
          <span className={styles.muted}>{durationText(test.durationMs)}</span>
        )}
      </p>
      <p className={styles.copy}>
        <CopyButton text={`bazel test ${test.label}`} label="Copy the test command" />
      </p>
      {results.length === 0 ? null : (
        <ul className={styles.runs} aria-label="Executions">
          {results.map((result) => (
            <Execution key={`${result.run}/${result.shard}/${result.attempt}`} test={test} result={result} />
          ))}
        </ul>
      )}
      <dl className={styles.facts}>
        <PanelFact label="Configuration">
          {test.configuration === "" ? null : <code>{test.configuration}</code>}
        </PanelFact>
        <PanelFact label="Started">
          {test.startedAt === null ? null : <ExactTime time={test.startedAt} />}
        </PanelFact>
        <PanelFact label="Finished">
          {test.stoppedAt === null ? null : <ExactTime time={test.stoppedAt} />}
        </PanelFact>
      </dl>
    </SidePanel>
  );
}

function Execution(props: { test: Test; result: TestResult }) {
  const { test, result } = props;
  const look = testLook(result.status);
  const facts = [
    test.runs > 1 ? `run ${result.run}` : "",
    test.shards > 1 ? `shard ${result.shard}` : "",
    `attempt ${result.attempt}`,
    result.durationMs === null ? "" : durationText(result.durationMs),
    result.exitCode === null || result.exitCode === 0 ? "" : `exit ${result.exitCode}`,
    result.cachedLocally || result.cachedRemotely ? "cached" : (result.strategy ?? ""),
  ].filter((fact) => fact !== "");
  return (
    <li className={styles.run}>
      <span className={styles.line}>
        <StatusGlyph look={look} isDecorative />
        {look.word}
        <span className={styles.muted}>{facts.join(" · ")}</span>
      </span>
      {result.statusDetails === null || result.statusDetails === "" ? null : (
        <span className={styles.muted}>{result.statusDetails}</span>
      )}
      {result.outputs.length === 0 ? null : (
        <ul className={styles.outputs} aria-label="Outputs">
          {result.outputs.map((output) => (
            <li key={output.name} className={styles.output}>
              <code title={output.uri}>{output.name}</code>
              <CopyButton text={output.uri} label={`Copy the address of ${output.name}`} isBare />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
