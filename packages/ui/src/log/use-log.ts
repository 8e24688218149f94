import { useCallback, useEffect, useRef, useState } from "react";
import type { LogAnswer, LogName, LogRequest, LogSize } from "./log-protocol.ts";
import type { DrawnLine } from "./screen.ts";
import type { TextStyle } from "./style-table.ts";

/** A log that a worker holds: its size, and the lines that were asked for last. */
export interface LogState {
  readonly size: LogSize;
  readonly lines: { readonly from: number; readonly drawn: readonly DrawnLine[] };
  readonly styles: readonly TextStyle[];
  /** Why nothing comes, while it does not. */
  readonly trouble: string | undefined;
  /** Asks for lines `[from, to)`; one question is under way at a time, the newest one follows. */
  readonly ask: (from: number, to: number) => void;
}

/** Opens a log in a worker of its own and follows its length. */
export function useLog(name: LogName, total: number): LogState {
  const [size, setSize] = useState<LogSize>({ lineCount: 0, bytes: 0, total });
  const [lines, setLines] = useState<LogState["lines"]>({ from: 0, drawn: [] });
  const [trouble, setTrouble] = useState<string>();
  const styles = useRef<TextStyle[]>([]);
  const worker = useRef<Worker>(undefined);
  const asked = useRef<{ isWaiting: boolean; next: [number, number] | undefined }>({
    isWaiting: false,
    next: undefined,
  });
  const { project, invocationId, attempt } = name;

  const send = useCallback((request: LogRequest) => worker.current?.postMessage(request), []);
  const ask = useCallback(
    (from: number, to: number) => {
      asked.current.next = [from, to];
      if (asked.current.isWaiting) return;
      asked.current = { isWaiting: true, next: undefined };
      send({ kind: "lines", from, to, styles: styles.current.length });
    },
    [send],
  );

  useEffect(() => {
    const made = new Worker(new URL("./log-worker.ts", import.meta.url), { type: "module" });
    worker.current = made;
    styles.current = [];
    asked.current = { isWaiting: false, next: undefined };
    made.onmessage = ({ data }: MessageEvent<LogAnswer>) => {
      if (data.kind === "trouble") setTrouble(data.message);
      else if (data.kind === "size") {
        setTrouble(undefined);
        setSize(data.size);
      } else {
        styles.current = [...styles.current.slice(0, data.stylesFrom), ...data.styles];
        setLines({ from: data.from, drawn: data.lines });
        const { next } = asked.current;
        asked.current = { isWaiting: false, next: undefined };
        if (next !== undefined) ask(...next);
      }
    };
    made.postMessage({
      kind: "open",
      log: { project, invocationId, attempt },
      total: 0,
    } satisfies LogRequest);
    return () => made.terminate();
  }, [project, invocationId, attempt, ask]);

  useEffect(() => {
    // The worker is new for another log; this tells each how long its log is.
    worker.current?.postMessage({ kind: "grow", total } satisfies LogRequest);
  }, [total]);

  return { size, lines, styles: styles.current, trouble, ask };
}
