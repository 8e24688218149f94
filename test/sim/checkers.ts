import { createHmac } from "node:crypto";
import { Carry } from "@millrace/proto/pipeline";
import type { ModelDatabase, PositionRow } from "./model-database.ts";
import type { SimBuild } from "./sim-build.ts";
import type { SimClient } from "./sim-client.ts";
import { serverSecret } from "./sim-node.ts";

/** The attempts that hold a build's stream, told by the HMAC of its first event. */
export function attemptsOf(database: ModelDatabase, build: SimBuild): PositionRow[] {
  const first = build.events[0] ?? new Uint8Array(0);
  const hmac = createHmac("sha256", serverSecret).update(first).digest("hex");
  return [...database.positions.values()].filter(
    (row) => row.project === build.project && row.invocationId === build.invocationId && row.hmac === hmac,
  );
}

/** Broken promises at this moment: an acked event that is not committed. */
export function checkAcked(database: ModelDatabase, client: SimClient): string[] {
  if (client.ackedTo === 0) return [];
  const committed = Math.max(0, ...attemptsOf(database, client.build).map((row) => row.committed));
  if (client.ackedTo <= committed) return [];
  return [`${client.build.name}: acked to ${client.ackedTo}, committed to ${committed}`];
}

/** What is wrong with the stored rows of an attempt, whatever happened: each a sentence. */
export function checkAttempt(database: ModelDatabase, row: PositionRow, build: SimBuild): string[] {
  const stored = database.rowsOf(row.attemptId);
  const problems: string[] = [];
  let next = 1;
  for (const segment of [...stored.events].sort((a, b) => a.firstSeq - b.firstSeq)) {
    if (segment.firstSeq !== next) problems.push(`segment at ${segment.firstSeq}, expected ${next}`);
    const frames = [...framesOf(segment.data ?? new Uint8Array(0))];
    const expected = build.events.slice(segment.firstSeq - 1, segment.lastSeq);
    const isEqual =
      frames.length === expected.length &&
      frames.every((frame, index) => Buffer.compare(frame, expected[index] ?? new Uint8Array(0)) === 0);
    if (!isEqual) problems.push(`events ${segment.firstSeq}…${segment.lastSeq} are not what was sent`);
    next = segment.lastSeq + 1;
  }
  if (next !== row.committed + 1) problems.push(`segments end at ${next - 1}, position is ${row.committed}`);
  problems.push(...checkLog(database, row, build));
  return problems.map((problem) => `${build.name} attempt ${row.attempt}: ${problem}`);
}

function checkLog(database: ModelDatabase, row: PositionRow, build: SimBuild): string[] {
  const problems: string[] = [];
  const pieces: Uint8Array[] = [];
  let next = 0;
  const segments = [...database.rowsOf(row.attemptId).log].sort((a, b) => a.firstByte - b.firstByte);
  for (const segment of segments) {
    if (segment.firstByte !== next) problems.push(`log at byte ${segment.firstByte}, expected ${next}`);
    next = segment.firstByte + segment.byteCount;
    pieces.push(segment.data ?? new Uint8Array(0));
  }
  const expected = build.logTexts.slice(0, row.committed).join("");
  if (Buffer.concat(pieces).toString() !== expected) problems.push("the log is not what was sent");
  const carried = row.carry.length === 0 ? 0 : (Carry.decode(row.carry).logBytes ?? 0);
  if (carried !== next) problems.push(`the carry says ${carried} log bytes, the segments hold ${next}`);
  return problems;
}

/** What is wrong once every client has come to its end. */
export function checkFinished(database: ModelDatabase, build: SimBuild): string[] {
  const attempts = attemptsOf(database, build);
  const [row, ...others] = attempts;
  if (row === undefined) return [`${build.name}: not stored at all`];
  const problems = checkAttempt(database, row, build);
  if (others.length > 0) problems.push(`${build.name}: stored ${attempts.length} times`);
  if (row.committed !== build.events.length) problems.push(`${build.name}: ends at ${row.committed}`);
  if (!row.finished) problems.push(`${build.name}: not finished`);
  const stored = database.rowsOf(row.attemptId);
  const missing = build.labels.filter((label) => !stored.targets.has(label) && !stored.tests.has(label));
  if (missing.length > 0) problems.push(`${build.name}: no row for ${missing.join(", ")}`);
  if (stored.end?.eventCount !== build.events.length) problems.push(`${build.name}: counted wrongly`);
  return problems;
}

function* framesOf(bytes: Uint8Array): Generator<Uint8Array> {
  let at = 0;
  while (at < bytes.length) {
    let length = 0;
    let shift = 0;
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
    }
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
