import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { LogLine } from "./log-line.tsx";
import styles from "./log-view.module.css";
import { lineHeight, logWindow, scrollTopOf } from "./log-window.ts";
import type { LogState } from "./use-log.ts";

/** Pixels from the bottom within which the reader counts as being at the end. */
const endSlack = 4;

/** The lines in view and no others. Scrolling up stops following, scrolling to the end begins it again. */
export function LogView(props: {
  log: LogState;
  follows: boolean;
  onFollow: (follows: boolean) => void;
  /** The line that the address names, from 1. */
  line: number | undefined;
}) {
  const { log, follows, onFollow, line } = props;
  const { ask } = log;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrollTop: 0, viewHeight: 600 });
  const { lineCount, bytes } = log.size;
  const shown = logWindow({ lineCount, ...view });
  const { first, last } = shown;

  useEffect(() => {
    if (last > first) ask(first, last);
  }, [ask, first, last, bytes]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const sizes = new ResizeObserver(() =>
      setView({ scrollTop: element.scrollTop, viewHeight: element.clientHeight }),
    );
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (follows && element !== null && lineCount > 0) element.scrollTop = element.scrollHeight;
  }, [follows, lineCount]);

  useNamedLine(scroller, { line, lineCount });

  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const { scrollTop, clientHeight, scrollHeight } = element;
    const wentUp = scrollTop < view.scrollTop - 1;
    if (follows && wentUp && scrollTop + clientHeight < scrollHeight - endSlack) onFollow(false);
    setView({ scrollTop, viewHeight: clientHeight });
  };

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys
    <section className={styles.scroller} ref={scroller} onScroll={onScroll} aria-label="Log" tabIndex={0}>
      <div className={styles.whole} style={{ height: shown.height }}>
        <div className={styles.lines} style={{ transform: `translateY(${shown.top}px)` }}>
          {visibleLines(log, first, last).map(({ number, drawn }) => (
            <NumberedLine key={number} number={number} isNamed={number === line}>
              {drawn === undefined ? null : <LogLine line={drawn} styleOf={(id) => log.styles[id] ?? {}} />}
            </NumberedLine>
          ))}
        </div>
      </div>
    </section>
  );
}

/** A line and the address of it. */
function NumberedLine(props: { number: number; isNamed: boolean; children: ReactNode }) {
  const { number, isNamed, children } = props;
  return (
    <div className={`${styles.row} ${isNamed ? styles.named : ""}`} style={{ height: lineHeight }}>
      <Link
        to="."
        search={(search) => ({ ...search, line: number })}
        replace
        className={styles.number}
        aria-label={`Line ${number}`}
      >
        {number}
      </Link>
      {children}
    </div>
  );
}

/** Lines by number; one that the worker has not sent yet is blank. */
function visibleLines(log: LogState, first: number, last: number) {
  return Array.from({ length: Math.max(0, last - first) }, (_, at) => ({
    number: first + at + 1,
    drawn: log.lines.drawn[first + at - log.lines.from],
  }));
}

/** Scrolls to the line of the address once it is there; not again when the reader has moved on. */
function useNamedLine(
  scroller: React.RefObject<HTMLDivElement | null>,
  at: { line: number | undefined; lineCount: number },
): void {
  const reached = useRef<number>(undefined);
  const { line, lineCount } = at;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || line === undefined || reached.current === line || lineCount < line) return;
    const isFirst = reached.current === undefined;
    reached.current = line;
    const { first, last } = logWindow({
      lineCount,
      scrollTop: element.scrollTop,
      viewHeight: element.clientHeight,
    });
    // A click on a number in view must not move what the reader looks at.
    if (!isFirst && line > first && line <= last) return;
    element.scrollTop = scrollTopOf(line - 1, { lineCount, viewHeight: element.clientHeight });
  }, [scroller, line, lineCount]);
}
