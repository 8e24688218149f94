import type { SignalHistory } from "@millrace/client/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import panelStyles from "../build/panel-content.module.css";
import { PanelFact, SidePanel } from "../build/side-panel.tsx";
import { CopyButton } from "../widgets/copy-button.tsx";
import { Failure } from "../widgets/note.tsx";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { ExactTime, TimeAgo } from "../widgets/times.tsx";
import { RequestDuration } from "./request-columns.tsx";
import { commitText, reasonText, requestLook } from "./request-look.ts";
import { signalHistoryQuery } from "./signal-queries.ts";
import styles from "./signals-page.module.css";

/** Everything about a request: how it stands and why, its builds, and who changed its state when. */
export function RequestPanel(props: { project: string; queue: string; number: number; onClose: () => void }) {
  const { project, queue, number, onClose } = props;
  const { data, error, refetch } = useQuery(signalHistoryQuery(queue, number));
  return (
    <SidePanel title={`${queue} #${number}`} onClose={onClose}>
      {error !== null && data === undefined ? <Failure error={error} retry={() => void refetch()} /> : null}
      {data === undefined ? null : <Request project={project} request={data} />}
    </SidePanel>
  );
}

function Request(props: { project: string; request: SignalHistory }) {
  const { project, request } = props;
  const look = requestLook(request);
  return (
    <>
      <p className={panelStyles.status}>
        <StatusGlyph look={look} isDecorative />
        {look.word}
      </p>
      {request.reason === null ? null : (
        <p className={panelStyles.muted}>
          {reasonText(request.reason)} This is no verdict about the commit: announce it again to have it
          validated anew.
        </p>
      )}
      <dl className={panelStyles.facts}>
        <PanelFact label="Commit">
          <span className={styles.copied}>
            <code>{request.uri}</code>
            <CopyButton text={request.uri} label="Copy the commit" isBare />
          </span>
        </PanelFact>
        <PanelFact label="Built since">
          {request.baseUri === null ? null : (
            <code title={request.baseUri}>{commitText(request.baseUri)}</code>
          )}
        </PanelFact>
        <PanelFact label="Announced">
          <ExactTime time={request.createdAt} />
        </PanelFact>
        <PanelFact label="Took">
          <RequestDuration request={request} />
        </PanelFact>
      </dl>
      <Builds project={project} builds={request.builds} />
      <History log={request.log} />
    </>
  );
}

function Builds(props: { project: string; builds: SignalHistory["builds"] }) {
  if (props.builds.length === 0) return null;
  return (
    <section aria-label="Builds">
      <h3 className={styles.heading}>{props.builds.length === 1 ? "Build" : "Builds"}</h3>
      <ul className={panelStyles.runs}>
        {props.builds.map((build) => (
          <li key={build.id} className={panelStyles.run}>
            <span className={panelStyles.line}>
              <span>{build.status}</span>
              {build.providerState === null || build.providerState === build.status ? null : (
                <span className={panelStyles.muted}>({build.providerState})</span>
              )}
            </span>
            <BuildLink project={props.project} build={build} />
            {build.status === "accepted" || build.status === "running" ? (
              <span className={panelStyles.muted}>
                Given up at <ExactTime time={build.deadlineAt} />
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** To the build's own page when Millrace ran it, else to its runner's. */
function BuildLink(props: { project: string; build: SignalHistory["builds"][number] }) {
  const { project, build } = props;
  if (build.invocationId !== null) {
    return (
      <Link
        to="/p/$project/i/$invocationId"
        params={{ project, invocationId: build.invocationId }}
        className={styles.link}
      >
        Open the build
      </Link>
    );
  }
  if (build.url === null || !/^https?:\/\//.test(build.url)) {
    return <code className={panelStyles.muted}>{build.id}</code>;
  }
  return (
    <a href={build.url} rel="noreferrer" target="_blank" className={styles.link}>
      Open it where it runs
    </a>
  );
}

const stateWords: Readonly<Record<string, string>> = {
  accepted: "Announced",
  processing: "Admitted",
  superseded: "Superseded by a newer commit",
  succeeded: "Found green",
  failed: "Failed",
  cancelled: "Cancelled",
};

function History(props: { log: SignalHistory["log"] }) {
  if (props.log.length === 0) return null;
  return (
    <section aria-label="History">
      <h3 className={styles.heading}>History</h3>
      <ol className={styles.history}>
        {props.log.map((entry) => (
          <li key={`${entry.at} ${entry.to}`}>
            <span>
              {stateWords[entry.to] ?? entry.to}
              {entry.reason === null ? null : (
                <span className={panelStyles.muted}> {entry.reason.replaceAll("_", " ")}</span>
              )}
            </span>
            <span className={styles.by}>{entry.who}</span>
            <span className={styles.faint}>
              <TimeAgo time={entry.at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
