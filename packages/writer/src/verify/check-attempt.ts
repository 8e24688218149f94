import type { StoredAttempt } from "@millrace/db/verify";
import { type Finding, findingOf } from "./finding.ts";

/** What the carry says the log is. */
export interface LogPosition {
  readonly logBytes: number;
  readonly logLines: number;
}

/**
 * What is wrong with what is stored of one attempt: its events are 1 … last without hole or double (SPEC.md, invariant
 * 3), its log is as long as the next owner will take it to be, and if it has ended, its row says so. `carry` is
 * undefined when it cannot be read.
 */
export function checkAttempt(stored: StoredAttempt, carry: LogPosition | undefined): Finding[] {
  return [...checkEvents(stored), ...checkLog(stored, carry), ...checkRow(stored)];
}

function checkEvents(stored: StoredAttempt): Finding[] {
  const { events, lastEventSeq } = stored;
  const findings: Finding[] = [];
  if (events.fault !== null) {
    const { found, expected } = events.fault;
    const what =
      found > expected
        ? `events ${expected} to ${found - 1} are missing`
        : `events from ${found} on are stored twice (${expected} was due)`;
    findings.push(findingOf(stored, { kind: "events-not-contiguous", message: what }));
  }
  if (events.end !== lastEventSeq) {
    const message = `the last stored event is ${events.end}, but ${lastEventSeq} is acknowledged`;
    findings.push(findingOf(stored, { kind: "events-not-at-position", message }));
  }
  return findings;
}

function checkLog(stored: StoredAttempt, carry: LogPosition | undefined): Finding[] {
  const { log } = stored;
  const findings: Finding[] = [];
  if (log.fault !== null) {
    const message = `a piece of the log begins at byte ${log.fault.found} where ${log.fault.expected} was due`;
    findings.push(findingOf(stored, { kind: "log-not-continuous", message }));
  } else if (!log.linesAreContinuous) {
    const message = "the line numbers of the log's pieces do not follow each other";
    findings.push(findingOf(stored, { kind: "log-not-continuous", message }));
  }
  if (carry === undefined) {
    findings.push(findingOf(stored, { kind: "log-not-at-carry", message: "the carry cannot be read" }));
  } else if (carry.logBytes !== log.end || carry.logLines !== log.lines) {
    const message =
      `the log has ${log.end} bytes and ${log.lines} lines, but the carry says ` +
      `${carry.logBytes} and ${carry.logLines}`;
    findings.push(findingOf(stored, { kind: "log-not-at-carry", message }));
  }
  return findings;
}

function checkRow(stored: StoredAttempt): Finding[] {
  const { status, isFinished, isSwept, lastEventSeq, eventCount } = stored;
  if (status === null) {
    return [findingOf(stored, { kind: "row-missing", message: "it has no row in invocations" })];
  }
  const hasEnded = isFinished || isSwept;
  const isFinal = status !== "running";
  if (hasEnded !== isFinal) {
    const message = hasEnded
      ? `it ${isFinished ? "has ended" : "was closed by the sweep"}, but its status is ${status}`
      : `its status is ${status}, but its stream has not ended`;
    return [findingOf(stored, { kind: "status-not-final", message })];
  }
  if (!hasEnded) return [];
  const { log } = stored;
  const isRight = eventCount === lastEventSeq && stored.logBytes === log.end && stored.logLines === log.lines;
  if (isRight) return [];
  const message =
    `its row says ${eventCount} events, ${stored.logBytes} bytes and ${stored.logLines} lines of log; ` +
    `stored are ${lastEventSeq}, ${log.end} and ${log.lines}`;
  return [findingOf(stored, { kind: "totals-not-right", message })];
}
