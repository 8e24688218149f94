import { logDownloadPath } from "@millrace/client/log";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useShownInvocation } from "../build/use-shown-invocation.ts";
import { bytesText, countOf } from "../format/amounts.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import buttonStyles from "../widgets/button.module.css";
import { DownloadIcon, FollowIcon } from "../widgets/icons.tsx";
import { Note } from "../widgets/note.tsx";
import styles from "./log-tab.module.css";
import { LogView } from "./log-view.tsx";
import { useLog } from "./use-log.ts";

const route = getRouteApi("/p/$project/i/$invocationId");

/** The log of a build, from its first byte on, and on its heels while it runs. */
export function LogTab() {
  const build = useShownInvocation();
  const { line } = route.useSearch();
  const log = useLog(build, build.logBytes);
  const isRunning = build.status === "running";
  const [follows, setFollows] = useState(isRunning && line === undefined);
  useShortcuts([{ keys: "f", label: "Follow the log", run: () => setFollows((before) => !before) }]);
  if (build.logBytes === 0) {
    return <Note title={isRunning ? "No output yet" : "This build wrote no log"} />;
  }
  const { size } = log;
  return (
    <div className={styles.tab}>
      <div className={styles.bar}>
        <span className={styles.size} role="status">
          {log.trouble ?? sizeText(size)}
        </span>
        <button
          type="button"
          className={`${buttonStyles.button} ${follows ? buttonStyles.pressed : ""}`}
          aria-pressed={follows}
          title="Stay at the end (f)"
          onClick={() => setFollows(!follows)}
        >
          <FollowIcon />
          {isRunning ? "Follow" : "End"}
        </button>
        <a className={buttonStyles.button} href={logDownloadPath(build)} download>
          <DownloadIcon />
          Download
        </a>
      </div>
      <LogView log={log} follows={follows} onFollow={setFollows} line={line} />
    </div>
  );
}

function sizeText(size: { lineCount: number; bytes: number; total: number }): string {
  const lines = countOf(size.lineCount, "line");
  if (size.bytes < size.total) return `${bytesText(size.bytes)} of ${bytesText(size.total)}`;
  return `${lines}, ${bytesText(size.bytes)}`;
}
