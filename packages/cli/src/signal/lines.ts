import type { HistoryAnswer, LetterAnswer, QueueAnswer, RequestAnswer } from "./answers.ts";
import { textTable } from "./text-table.ts";

const none = "–";

/** Queues as lines that a person reads. */
export function queueLines(queues: readonly QueueAnswer[]): string[] {
  if (queues.length === 0) return ["There are no queues."];
  const headings = ["QUEUE", "PROJECT", "RUNNER", "SLOTS", "WAITING", "LETTERS", "LAST GREEN", ""];
  const rows = queues.map((queue) => [
    queue.name,
    queue.project,
    queue.runner ?? none,
    `${queue.slots.length}/${queue.maxConcurrent ?? "?"}`,
    String(queue.waiting),
    String(queue.openLetters),
    queue.lastGreenUri ?? none,
    queue.stopped === null ? "" : stoppedText(queue.stopped),
  ]);
  return textTable(headings, rows);
}

function stoppedText({ since, reason }: { since: string; reason: string }): string {
  return `stopped since ${since}${reason === "" ? "" : `: ${reason}`}`;
}

export function requestLines(requests: readonly RequestAnswer[]): string[] {
  if (requests.length === 0) return ["There are no such requests."];
  const headings = ["REQUEST", "STATE", "COMMIT", "ANNOUNCED", "BUILD"];
  const rows = requests.map((one) => [
    one.id,
    outcomeText(one),
    one.uri,
    one.createdAt,
    one.build === null ? none : one.build.url || one.build.id,
  ]);
  return textTable(headings, rows);
}

/** The state with what makes it one: `failed (timed_out)`, `succeeded (green)`. */
function outcomeText({ state, reason, verdict }: RequestAnswer): string {
  const because = reason ?? verdict;
  return because === null ? state : `${state} (${because})`;
}

export function historyLines(request: HistoryAnswer): string[] {
  const base = request.baseUri === null ? "" : ` since ${request.baseUri}`;
  return [
    `${request.id}  ${outcomeText(request)}`,
    `commit ${request.uri}`,
    ...(request.strategy === "" ? [] : [`strategy ${request.strategy}${base}`]),
    ...request.builds.map(
      ({ id, status, url, deadlineAt }) =>
        `build ${id}  ${status}  deadline ${deadlineAt}${url === null ? "" : `  ${url}`}`,
    ),
    "",
    ...textTable(
      ["AT", "BY", "TO", "BECAUSE"],
      request.log.map(({ at, who, to, reason }) => [at, who, to, reason ?? ""]),
    ),
  ];
}

export function letterLines(letters: readonly LetterAnswer[]): string[] {
  if (letters.length === 0) return ["There are no such dead letters."];
  const headings = ["ID", "STAGE", "ABOUT", "STATE", "TIMES", "LAST", "BECAUSE"];
  const rows = letters.map((one) => [
    String(one.id),
    one.stage,
    one.messageId,
    one.state,
    String(one.occurrences),
    one.lastFailedAt,
    one.lastReason,
  ]);
  return textTable(headings, rows);
}
