import type { Invocation } from "@millrace/client/client";
import { readLog } from "@millrace/client/log";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { origin } from "../api/client.ts";
import { LogLine } from "../log/log-line.tsx";
import type { DrawnLine } from "../log/screen.ts";
import type { TextStyle } from "../log/style-table.ts";
import { TerminalLog } from "../log/terminal-log.ts";
import styles from "./log-tail.module.css";

const tailBytes = 12_000;
const linesShown = 24;

/** What the log said last; it follows while the build runs. */
export function LogTail(props: { build: Invocation }) {
  const { build } = props;
  const { data } = useQuery({
    queryKey: ["log-tail", build.project, build.invocationId, build.attempt, build.logBytes],
    queryFn: ({ signal }) => readTail(build, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
    enabled: build.logBytes > 0,
  });
  if (data === undefined || data.lines.length === 0) return null;
  return (
    <section className={styles.tail} aria-label="End of the log">
      <header className={styles.header}>
        <h2 className={styles.title}>{build.status === "running" ? "Latest output" : "End of the log"}</h2>
        <Link
          to="/p/$project/i/$invocationId/log"
          params={{ project: build.project, invocationId: build.invocationId }}
          search={(search) => search}
          className={styles.open}
        >
          Whole log
        </Link>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways by keys */}
      <pre className={styles.lines} tabIndex={0}>
        {data.lines.map((line) => (
          <LogLine key={line.key} line={line.drawn} styleOf={(id) => data.styles[id] ?? {}} />
        ))}
      </pre>
    </section>
  );
}

interface Tail {
  readonly lines: { key: number; drawn: DrawnLine }[];
  readonly styles: TextStyle[];
}

async function readTail(build: Invocation, signal: AbortSignal): Promise<Tail> {
  const from = Math.max(0, build.logBytes - tailBytes);
  const log = new TerminalLog();
  const part = { ...build, from, to: build.logBytes };
  await readLog(origin, part, { bytes: (piece) => log.append(piece), signal });
  // The first line of a part may lack its beginning.
  const first = Math.max(from === 0 ? 0 : 1, log.lineCount - linesShown);
  const lines = [];
  for (let line = first; line < log.lineCount; line++) lines.push({ key: line, drawn: log.line(line) });
  return { lines, styles: log.styles.since(0) };
}
