import type { BuildRecord } from "../load/run-log.ts";
import type { Expectations } from "./expectations.ts";
import { isDone, sentOf } from "./logged-run.ts";
import type { StoredAttempt } from "./stored-attempts.ts";
import type { Findings } from "./verdict.ts";

/** A build of the log with what is stored of it. */
export interface CheckedBuild {
  readonly record: BuildRecord;
  readonly attempt: StoredAttempt;
}

/**
 * The one attempt of a build, or undefined. There must be exactly one: its first event is the same on every
 * connection. None may be there only when nothing was acknowledged and the upload did not go well.
 */
export function findAttempt(
  record: BuildRecord,
  of: { attempts: readonly StoredAttempt[]; findings: Findings },
): StoredAttempt | undefined {
  const { attempts, findings } = of;
  const { invocationId } = record.build;
  const [attempt, ...more] = attempts;
  for (const other of more) {
    findings.doubled += other.lastEventSeq;
    const detail = `it has a further attempt ${other.attempt} in project ${other.project}`;
    findings.add("doubled", { invocationId, detail });
  }
  if (attempt === undefined && (isDone(record) || record.ackedTo > 0)) {
    const acked = isDone(record) ? record.build.events : record.ackedTo;
    findings.lost += acked;
    findings.add("lost", {
      invocationId,
      detail: `nothing of it is stored, ${acked} events were acknowledged`,
    });
  }
  return attempt;
}

/** Position, counts and status of an attempt against the log and against each other. */
export function checkAttempt(
  checked: CheckedBuild,
  of: { expectations: Expectations; findings: Findings },
): void {
  const { record, attempt } = checked;
  const { build, ackedTo } = record;
  const { findings } = of;
  const { invocationId } = build;
  const claim = (holds: boolean, kind: "lost" | "beyond" | "position" | "status", detail: string): void => {
    if (!holds) findings.add(kind, { invocationId, detail });
  };
  const stored = attempt.lastEventSeq;
  const acked = isDone(record) ? build.events : ackedTo;
  findings.eventsStored += stored;
  findings.lost += Math.max(0, acked - stored);
  claim(acked <= stored, "lost", `event ${acked} was acknowledged, the position is ${stored}`);
  claim(
    stored <= sentOf(record),
    "beyond",
    `the position is ${stored}, only ${sentOf(record)} events were sent`,
  );
  claim(attempt.buildId === build.buildId, "position", `its build id is ${attempt.buildId}`);
  claim(attempt.attempt === 1, "position", `its only attempt has the number ${attempt.attempt}`);
  claim(!attempt.isPartial, "position", "it is marked as partial");
  claim(
    attempt.undecodedEvents === 0,
    "position",
    `${attempt.undecodedEvents} of its events count as undecoded`,
  );
  const isWhole = stored === build.events;
  const end = attempt.isFinished ? "its end counts as stored" : "its end does not count as stored";
  claim(
    attempt.isFinished === isWhole,
    "position",
    `${stored} of ${build.events} events are stored, but ${end}`,
  );
  if (isWhole) checkTotals(checked, { expectations: of.expectations, claim });
  else checkOpenStatus(checked, claim);
}

type Claim = (holds: boolean, kind: "position" | "status", detail: string) => void;

function checkTotals(
  { record, attempt }: CheckedBuild,
  of: { expectations: Expectations; claim: Claim },
): void {
  const { build } = record;
  const { status, log, logLines } = of.expectations.of(build, build.events);
  of.claim(
    attempt.status === status,
    "status",
    `its status is ${attempt.status} where ${status} is expected`,
  );
  for (const [what, found, expected] of [
    ["events", attempt.eventCount, build.events],
    ["bytes of log", attempt.logBytes, log.length],
    ["lines of log", attempt.logLines, logLines],
  ] as const) {
    of.claim(found === expected, "position", `it ended with ${found} ${what} where ${expected} are expected`);
  }
}

/** Of a build without its end: it runs until the sweep closes it, from the exit code if that was told. */
function checkOpenStatus({ record, attempt }: CheckedBuild, claim: Claim): void {
  const { exitCode } = record.build;
  const allowed = ["running", "disconnected", exitCode === 0 ? "succeeded" : "failed"];
  const isAllowed = allowed.includes(attempt.status);
  claim(isAllowed, "status", `its status is ${attempt.status} though its end is not stored`);
}
