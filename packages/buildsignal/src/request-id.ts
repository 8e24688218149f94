import { MillraceError } from "@millrace/base/errors";

/** The id of the `number`-th request of a queue. */
export function requestIdOf(queue: string, number: number): string {
  return `request/${queue}/${number}`;
}

/**
 * Which of two requests of a queue came first: negative when `a` did. Their numbers decide, since as texts 10 would
 * come before 9. Fails for an id of another queue.
 */
export function compareRequestIds(queue: string, a: string, b: string): number {
  return numberOf(queue, a) - numberOf(queue, b);
}

function numberOf(queue: string, id: string): number {
  const prefix = requestIdOf(queue, 0).slice(0, -1);
  const digits = id.slice(prefix.length);
  if (id.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(digits)) return Number(digits);
  throw new MillraceError({
    remedy: "reject",
    code: "foreign-request",
    message: `${JSON.stringify(id)} is no request of the queue ${queue}`,
  });
}
