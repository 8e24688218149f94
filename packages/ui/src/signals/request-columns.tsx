import type { SignalRequest } from "@millrace/client/client";
import type { Column } from "../build/row-table.tsx";
import { clockText, durationText } from "../format/duration.ts";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { TimeAgo } from "../widgets/times.tsx";
import { useNow } from "../widgets/use-now.ts";
import { commitText, requestLook } from "./request-look.ts";
import styles from "./signals-page.module.css";

/** What the table of requests shows. */
export const requestColumns: readonly Column<SignalRequest>[] = [
  {
    name: "Commit",
    track: "minmax(0, 1fr)",
    cell: (request) => (
      <span className={styles.commit}>
        <StatusGlyph look={requestLook(request)} />
        <code title={request.uri}>{commitText(request.uri)}</code>
      </span>
    ),
  },
  {
    name: "State",
    track: "96px",
    cell: (request) => <span className={styles.muted}>{requestLook(request).word}</span>,
  },
  {
    name: "Request",
    track: "72px",
    isRight: true,
    isExtra: true,
    cell: (request) => <span className={styles.faint}>#{request.number}</span>,
  },
  {
    name: "Build",
    track: "120px",
    isExtra: true,
    cell: (request) => <span className={styles.faint}>{strategyWords[request.strategy]}</span>,
  },
  {
    name: "Took",
    track: "84px",
    isRight: true,
    isExtra: true,
    cell: (request) => <RequestDuration request={request} />,
  },
  {
    name: "Age",
    track: "48px",
    isRight: true,
    cell: (request) => (
      <span className={styles.faint}>
        <TimeAgo time={request.createdAt} />
      </span>
    ),
  },
];

const strategyWords: Readonly<Record<SignalRequest["strategy"], string>> = {
  "": "",
  full: "full",
  incremental_since_green: "since last green",
};

/** From the announcement to the outcome; a clock that ticks while there is none. */
export function RequestDuration(props: { request: Pick<SignalRequest, "state" | "createdAt" | "endedAt"> }) {
  const { state, createdAt, endedAt } = props.request;
  if (endedAt !== null) return <span>{durationText(Date.parse(endedAt) - Date.parse(createdAt))}</span>;
  if (state === "processing" || state === "accepted") return <Clock since={Date.parse(createdAt)} />;
  return <span title="Not known any more">–</span>;
}

function Clock(props: { since: number }) {
  return <span>{clockText(useNow() - props.since)}</span>;
}
