import type { Clock } from "@millrace/base/clock";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** npm passes on what the terminal has sent to everybody, so that one Ctrl-C may arrive twice. */
const echoMs = 500;

/** Calls `onSignal` with 1 at the first Ctrl-C, SIGTERM or SIGHUP, with 2 at the next, and so on. */
export function listenForStop(clock: Clock, onSignal: (nth: number, signal: string) => void): () => void {
  let count = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  const listener = (signal: string): void => {
    const isEcho = clock.monotonic() - lastMs < echoMs;
    lastMs = clock.monotonic();
    if (isEcho) return;
    count += 1;
    onSignal(count, signal);
  };
  for (const signal of stopSignals) process.on(signal, listener);
  return () => {
    for (const signal of stopSignals) process.off(signal, listener);
  };
}
