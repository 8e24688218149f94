/** Time as a port: rules never read it, shells get it handed in, simulations script it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a monotonic clock, with fractions. */
  monotonic(): number;
  /** Runs `action` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, action: () => void): () => void;
}

/** The real clock. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs` on the given clock. Unlike `Clock.after` alone it keeps the process alive. */
export function delay(clock: Clock, delayMs: number): Promise<void> {
  if (clock === systemClock) return new Promise((resolve) => setTimeout(resolve, delayMs));
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

/** Runs `action` every `periodMs`, the next run only after the last one ended; the returned function stops it. */
export function every(clock: Clock, periodMs: number, action: () => Promise<void> | void): () => void {
  let cancel = (): void => {};
  let stopped = false;
  const arm = (): void => {
    cancel = clock.after(periodMs, () => {
      void Promise.resolve(action()).finally(() => {
        if (!stopped) arm();
      });
    });
  };
  arm();
  return () => {
    stopped = true;
    cancel();
  };
}
