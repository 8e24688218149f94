import type { Action, ActionCount, Invocation, Metrics } from "@millrace/client/client";
import { useQuery } from "@tanstack/react-query";
import { actionsQuery, metricsQuery } from "../api/queries.ts";
import { bytesText, countText } from "../format/amounts.ts";
import { durationText } from "../format/duration.ts";
import { Failure } from "../widgets/note.tsx";
import { Copied, Row, Section } from "./detail-section.tsx";

/** What Bazel counted and timed, and its actions by kind. */
export function MetricsSections({ build }: { build: Invocation }) {
  const { project, invocationId, attempt } = build;
  const name = { project, invocationId, attempt };
  const metrics = useQuery(metricsQuery(name));
  const actions = useQuery(actionsQuery(name));
  const error = metrics.error ?? actions.error;
  if (error !== null) {
    return <Failure error={error} retry={() => void Promise.all([metrics.refetch(), actions.refetch()])} />;
  }
  return (
    <>
      {actions.data === undefined ? null : <FailedActionsSection actions={actions.data.actions} />}
      {metrics.data?.metrics == null ? null : (
        <>
          <PhasesSection metrics={metrics.data.metrics} />
          <WorkSection metrics={metrics.data.metrics} />
        </>
      )}
      {actions.data === undefined ? null : <ActionKindsSection counts={actions.data.counts} />}
    </>
  );
}

const time = (ms: number | null) => (ms === null ? null : durationText(ms));
/** Zero is what Bazels before 5 say of what they do not count. */
const count = (value: number | null) => (value === null || value === 0 ? null : countText(value));
const bytes = (value: number | null) => (value === null ? null : bytesText(value));

function PhasesSection({ metrics }: { metrics: Metrics }) {
  return (
    <Section title="Phases">
      <Row label="Wall time">{time(metrics.wallTimeMs)}</Row>
      <Row label="Analysis">{time(metrics.analysisPhaseMs)}</Row>
      <Row label="Execution">{time(metrics.executionPhaseMs)}</Row>
      <Row label="Critical path">{time(metrics.criticalPathMs)}</Row>
      <Row label="CPU time">{time(metrics.cpuTimeMs)}</Row>
    </Section>
  );
}

function WorkSection({ metrics }: { metrics: Metrics }) {
  const { actionCacheHits: hits, actionCacheMisses: misses } = metrics;
  const looked = (hits ?? 0) + (misses ?? 0);
  return (
    <Section title="Work">
      <Row label="Packages loaded">{count(metrics.packagesLoaded)}</Row>
      <Row label="Targets loaded">{count(metrics.targetsLoaded)}</Row>
      <Row label="Targets configured">{count(metrics.targetsConfigured)}</Row>
      <Row label="Actions created">{count(metrics.actionsCreated)}</Row>
      <Row label="Actions executed">{count(metrics.actionsExecuted)}</Row>
      <Row label="Remote cache hits">{count(metrics.remoteCacheHits)}</Row>
      <Row label="Action cache">
        {looked === 0 ? null : `${countText(hits ?? 0)} of ${countText(looked)} up to date`}
      </Row>
      <Row label="Outputs">
        {metrics.outputCount === null
          ? null
          : `${countText(metrics.outputCount)}, ${bytesText(metrics.outputBytes ?? 0)}`}
      </Row>
      <Row label="Heap">{bytes(metrics.usedHeapBytes)}</Row>
      <Row label="Peak heap">{bytes(metrics.peakHeapBytes)}</Row>
      <Row label="Sent">{bytes(metrics.bytesSent)}</Row>
      <Row label="Received">{bytes(metrics.bytesReceived)}</Row>
    </Section>
  );
}

function ActionKindsSection({ counts }: { counts: readonly ActionCount[] }) {
  return (
    <Section title="Actions that Bazel told of">
      {counts.map(({ mnemonic, succeeded, failed, durationMs }) => (
        <Row key={mnemonic} label={mnemonic}>
          {[
            succeeded === 0 ? "" : `${countText(succeeded)} went well`,
            failed === 0 ? "" : `${countText(failed)} failed`,
            durationMs === 0 ? "" : durationText(durationMs),
          ]
            .filter(Boolean)
            .join(", ")}
        </Row>
      ))}
    </Section>
  );
}

function FailedActionsSection({ actions }: { actions: readonly Action[] }) {
  return (
    <Section title="Failed actions">
      {actions
        .filter(({ success }) => !success)
        .map((action) => (
          <Row key={action.sequence} label={action.mnemonic ?? "Action"}>
            {[action.label, action.failureMessage ?? `exit code ${action.exitCode ?? 0}`]
              .filter(Boolean)
              .join("\n")}
            {action.commandLine.length === 0 ? null : <Copied text={action.commandLine.join(" ")} />}
          </Row>
        ))}
    </Section>
  );
}
