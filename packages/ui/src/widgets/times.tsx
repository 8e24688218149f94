import type { Build } from "@millrace/client/client";
import { clockText, durationText } from "../format/duration.ts";
import { agoText, exactText } from "../format/time.ts";
import { useNow } from "./use-now.ts";

/** How long ago, with the exact time on hover. */
export function TimeAgo(props: { time: string; suffix?: string }) {
  const now = useNow();
  const time = Date.parse(props.time);
  const ago = agoText(time, now);
  return (
    <time dateTime={props.time} title={exactText(time)}>
      {ago}
      {props.suffix !== undefined && /^\d+[smhd]$/.test(ago) ? props.suffix : ""}
    </time>
  );
}

/** A point in time, exact, with the age beside it. */
export function ExactTime(props: { time: string }) {
  const now = useNow();
  const time = Date.parse(props.time);
  const ago = agoText(time, now);
  return (
    <time dateTime={props.time}>
      {exactText(time)}
      {/^\d/.test(ago) && ago.length < 5 ? ` (${ago} ago)` : ""}
    </time>
  );
}

/** How long a build took, or a clock that ticks while it runs. */
export function BuildDuration(props: {
  build: Pick<Build, "status" | "durationMs" | "startedAt" | "createdAt">;
}) {
  const { build } = props;
  if (build.durationMs !== null) return <span>{durationText(build.durationMs)}</span>;
  if (build.status !== "running") return <span title="Not known">–</span>;
  return <RunningClock since={Date.parse(build.startedAt ?? build.createdAt)} />;
}

function RunningClock(props: { since: number }) {
  return <span>{clockText(useNow() - props.since)}</span>;
}
