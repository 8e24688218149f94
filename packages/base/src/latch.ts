/** A promise with its handles outside: one waiter side, one opener side. */
export interface Latch<T> {
  readonly promise: Promise<T>;
  open(value: T): void;
  fail(error: unknown): void;
}

export function latch<T = void>(): Latch<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  return { promise, open: resolve, fail: reject };
}
