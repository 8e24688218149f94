import type { BuildLine } from "../load/run-log.ts";
import { countLineFeeds, type Expectation } from "./expectations.ts";
import type { Content, SegmentBytes } from "./segment-bytes.ts";
import { idsLiteral, type Row, type Snapshot } from "./snapshot.ts";
import type { Findings } from "./verdict.ts";

/** An attempt whose log is to be checked. */
export interface LogDue {
  readonly build: BuildLine;
  /** Undefined when only the continuity of ranges is checked. */
  readonly expected: Expectation | undefined;
}

const rowsAtOnce = 64;

const text = `
select attempt_id, first_byte, byte_count, first_line, line_count, staged_key,
  case when attempt_id = any($2::bigint[]) then data end as data
from log_segments where attempt_id = any($1::bigint[]) order by attempt_id, first_byte, byte_count`;

/** Checks that the log segments of attempts follow each other in bytes and lines, and that their text is the expected. */
export async function checkLogs(
  due: ReadonlyMap<number, LogDue>,
  world: { snapshot: Snapshot; bytes: SegmentBytes; findings: Findings },
): Promise<void> {
  const { snapshot, bytes, findings } = world;
  const compared = [...due].filter(([, { expected }]) => expected !== undefined).map(([id]) => id);
  const ranges = new Map([...due].map(([id, one]) => [id, new LogRange(one, findings)]));
  const parameters = [idsLiteral([...due.keys()]), idsLiteral(compared)];
  for await (const page of snapshot.pages(text, parameters, rowsAtOnce)) {
    const isCompared = (row: Row): boolean => due.get(Number(row["attempt_id"]))?.expected !== undefined;
    const contents = await Promise.all(page.map((row) => (isCompared(row) ? bytes.read(row) : undefined)));
    for (const [index, row] of page.entries()) {
      ranges.get(Number(row["attempt_id"]))?.add(row, contents[index]);
    }
  }
  for (const range of ranges.values()) range.end();
}

/** The log segments of one attempt, in order. */
class LogRange {
  private readonly due: LogDue;
  private readonly findings: Findings;
  private nextByte = 0;
  private nextLine = 0;

  constructor(due: LogDue, findings: Findings) {
    this.due = due;
    this.findings = findings;
  }

  add(row: Row, content: Content | undefined): void {
    const from = Number(row["first_byte"]);
    const to = from + Number(row["byte_count"]);
    const line = Number(row["first_line"]);
    const where = `the log's bytes ${from} … ${to}`;
    if (from !== this.nextByte) this.report(`${where} follow byte ${this.nextByte}`);
    else if (line !== this.nextLine) this.report(`${where} begin at line ${line}, not ${this.nextLine}`);
    this.nextByte = Math.max(this.nextByte, to);
    this.nextLine = line + Number(row["line_count"]);
    if (content === undefined) return;
    if (content.kind !== "bytes") this.report(`${where}: ${content.why}`);
    else this.compare(content.bytes, { from, to, where, lines: Number(row["line_count"]) });
  }

  end(): void {
    const { expected } = this.due;
    if (expected === undefined) return;
    if (this.nextByte === expected.log.length && this.nextLine === expected.logLines) return;
    const found = `${this.nextByte} bytes and ${this.nextLine} lines`;
    this.report(`the log has ${found}, not ${expected.log.length} and ${expected.logLines}`);
  }

  private compare(content: Uint8Array, at: { from: number; to: number; where: string; lines: number }): void {
    const { from, to, where, lines } = at;
    const expected = this.due.expected?.log.subarray(from, to) ?? content;
    if (content.length !== to - from || Buffer.compare(content, expected) !== 0) {
      this.report(`${where} are not the text that was sent`);
    }
    const found = countLineFeeds(content, { from: 0, to: content.length });
    if (found !== lines) this.report(`${where} have ${found} line ends, their row says ${lines}`);
  }

  private report(detail: string): void {
    this.findings.add("log", { invocationId: this.due.build.invocationId, detail });
  }
}
