import { type Invocation, invocationPath } from "@millrace/client/client";
import { logDownloadPath } from "@millrace/client/log";
import { bytesText, countText } from "../format/amounts.ts";
import { commandText, exitText } from "../status/sentence.ts";
import { buildLooks } from "../status/status.ts";
import buttonStyles from "../widgets/button.module.css";
import { DownloadIcon } from "../widgets/icons.tsx";
import { ExactTime } from "../widgets/times.tsx";
import { Copied, Row, Section } from "./detail-section.tsx";
import styles from "./details-tab.module.css";
import { MetricsSections } from "./metrics-sections.tsx";
import { SaidSections } from "./said-sections.tsx";
import { useShownInvocation } from "./use-shown-invocation.ts";

/** Everything that is known of an attempt, in words. */
export function DetailsTab() {
  const build = useShownInvocation();
  return (
    <div className={styles.scroller}>
      <div className={styles.columns}>
        <Section title="Command">
          <Row label="Command line">
            <Copied text={commandText(build)} />
          </Row>
          <Row label="Workspace">{build.workspaceDirectory}</Row>
          <Row label="Working directory">{build.workingDirectory}</Row>
          <Row label="Bazel">{build.toolVersion}</Row>
        </Section>
        <Section title="Result">
          <Row label="Status">{buildLooks[build.status].word}</Row>
          <Row label="Exit">{exitText(build)}</Row>
          <Row label="Failure">{build.failureMessage}</Row>
          <Row label="Aborted because">{build.abortReason}</Row>
        </Section>
        <Section title="Where it came from">
          <Row label="User">{build.user}</Row>
          <Row label="Host">{build.host}</Row>
          <Row label="Role">{build.role}</Row>
          <Row label="Repository">{build.repositoryUrl}</Row>
          <Row label="Branch">{build.branch}</Row>
          <Row label="Commit">{build.commit === null ? null : <Copied text={build.commit} />}</Row>
          <Row label="CPU">{build.cpu}</Row>
          <Row label="Platform">{build.platform}</Row>
        </Section>
        <Section title="Times">
          <Row label="Started">{build.startedAt === null ? null : <ExactTime time={build.startedAt} />}</Row>
          <Row label="Finished">
            {build.finishedAt === null ? null : <ExactTime time={build.finishedAt} />}
          </Row>
          <Row label="First event stored">
            <ExactTime time={build.createdAt} />
          </Row>
          <Row label="Stream ended">{build.endedAt === null ? null : <ExactTime time={build.endedAt} />}</Row>
        </Section>
        <MetricsSections build={build} />
        <SaidSections build={build} />
        <StreamSection build={build} />
        <DownloadSection build={build} />
      </div>
    </div>
  );
}

function StreamSection({ build }: { build: Invocation }) {
  return (
    <Section title="Stream">
      <Row label="Invocation">
        <Copied text={build.invocationId} />
      </Row>
      <Row label="Build request">{build.buildId === "" ? null : <Copied text={build.buildId} />}</Row>
      <Row label="Attempt">{build.attempts.length > 1 ? String(build.attempt) : null}</Row>
      <Row label="Events stored">
        {countText(build.lastSequence)}
        {build.complete ? ", complete" : ", end not received"}
      </Row>
      <Row label="Not decoded">
        {build.undecodedEvents === 0 ? null : `${countText(build.undecodedEvents)}, stored as they came`}
      </Row>
      <Row label="Rows">{build.partial ? "Some did not fit: their events are stored raw only" : null}</Row>
      <Row label="Log">{`${bytesText(build.logBytes)}, ${countText(build.logLines)} lines`}</Row>
    </Section>
  );
}

function DownloadSection({ build }: { build: Invocation }) {
  return (
    <section className={styles.section}>
      <h2 className={styles.title}>Downloads</h2>
      <div className={styles.downloads}>
        <a
          className={buttonStyles.button}
          href={`${invocationPath(build)}/bep?attempt=${build.attempt}`}
          download
        >
          <DownloadIcon />
          Build events
        </a>
        {build.logBytes === 0 ? null : (
          <a className={buttonStyles.button} href={logDownloadPath(build)} download>
            <DownloadIcon />
            Log
          </a>
        )}
      </div>
    </section>
  );
}
