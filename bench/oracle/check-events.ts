import type { BuildLine } from "../load/run-log.ts";
import type { Content, SegmentBytes } from "./segment-bytes.ts";
import type { Row, Snapshot } from "./snapshot.ts";
import { idsLiteral } from "./snapshot.ts";
import type { Findings } from "./verdict.ts";

/** An attempt whose segments are to be checked. */
export interface EventsDue {
  readonly build: BuildLine;
  /** Where its position stands. */
  readonly last: number;
  /** The events as they must be stored; undefined when only ranges are checked. */
  readonly events: Iterator<Uint8Array> | undefined;
}

// A segment holds up to 256 KB before compression, a large event alone up to 100 MB.
const rowsAtOnce = 64;

const text = `
select attempt_id, first_seq, last_seq, raw_bytes, staged_key, case when attempt_id = any($2::bigint[]) then data end as data
from event_segments where attempt_id = any($1::bigint[]) order by attempt_id, first_seq, last_seq`;

/** Checks that the event segments of attempts are 1 … last, each event once, and that their bytes are those expected. */
export async function checkEvents(
  due: ReadonlyMap<number, EventsDue>,
  world: { snapshot: Snapshot; bytes: SegmentBytes; findings: Findings },
): Promise<void> {
  const { snapshot, bytes, findings } = world;
  const compared = [...due].filter(([, { events }]) => events !== undefined).map(([id]) => id);
  const ranges = new Map([...due].map(([id, one]) => [id, new EventRange(one, findings)]));
  const parameters = [idsLiteral([...due.keys()]), idsLiteral(compared)];
  for await (const page of snapshot.pages(text, parameters, rowsAtOnce)) {
    const isCompared = (row: Row): boolean => due.get(Number(row["attempt_id"]))?.events !== undefined;
    const contents = await Promise.all(page.map((row) => (isCompared(row) ? bytes.read(row) : undefined)));
    for (const [index, row] of page.entries()) {
      ranges.get(Number(row["attempt_id"]))?.add(row, contents[index]);
    }
  }
  for (const range of ranges.values()) range.end();
}

type Unreadable = Exclude<Content, { kind: "bytes" }>;

/** The segments of one attempt, in order. */
class EventRange {
  private readonly due: EventsDue;
  private readonly findings: Findings;
  private stored = 0;
  /** Up to where the expected events were taken. */
  private taken = 0;

  constructor(due: EventsDue, findings: Findings) {
    this.due = due;
    this.findings = findings;
  }

  add(row: Row, content: Content | undefined): void {
    const first = Number(row["first_seq"]);
    const last = Number(row["last_seq"]);
    const where = `the segment ${first} … ${last}`;
    if (last < first) return this.report("position", `${where} ends before it begins`);
    this.checkPlace({ first, last, where });
    if (content === undefined) return;
    if (content.kind !== "bytes") this.reportUnreadable(content, { where, events: last - first + 1 });
    else if (first > this.taken) this.compare(content.bytes, { first, last, where, row });
  }

  /** Events that cannot be read are lost, whatever became of them. */
  private reportUnreadable({ kind, why }: Unreadable, of: { where: string; events: number }): void {
    if (kind === "changed") this.findings.lost += of.events;
    this.report(kind, `${of.where}: ${why}`, of.events);
  }

  end(): void {
    const { last } = this.due;
    const missing = last - this.stored;
    if (missing > 0) this.report("lost", `events ${this.stored + 1} … ${last} have no segment`, missing);
    if (missing < 0) this.report("position", `segments reach to ${this.stored}, the position is ${last}`);
  }

  private checkPlace({ first, last, where }: { first: number; last: number; where: string }): void {
    const next = this.stored + 1;
    if (first > next)
      this.report("lost", `events ${next} … ${first - 1} are missing before ${where}`, first - next);
    if (first < next) {
      const again = Math.min(last, this.stored) - first + 1;
      this.report("doubled", `${again} events of ${where} are stored before, up to ${this.stored}`, again);
    }
    this.stored = Math.max(this.stored, last);
  }

  private compare(content: Uint8Array, of: { first: number; last: number; where: string; row: Row }): void {
    const { first, last, where, row } = of;
    if (content.length !== Number(row["raw_bytes"])) {
      this.report("changed", `${where} has ${content.length} bytes, its row says ${row["raw_bytes"]}`);
    }
    let at = 0;
    for (let sequence = first; sequence <= last; sequence += 1) {
      const expected = this.take(sequence);
      const frame = readFrame(content, at);
      if (frame === undefined) return this.report("changed", `${where} ends within event ${sequence}`);
      at = frame.to;
      if (expected === undefined) return this.report("beyond", `event ${sequence} was never sent`);
      if (Buffer.compare(content.subarray(frame.from, frame.to), expected) !== 0) {
        this.report(
          "changed",
          `event ${sequence}: ${frame.to - frame.from} bytes, not the ${expected.length} sent`,
        );
      }
      this.findings.eventsCompared += 1;
    }
    if (at !== content.length) this.report("changed", `${where} goes on behind its last event`);
  }

  /** The expected event of that number; those before it are passed over. */
  private take(sequence: number): Uint8Array | undefined {
    let event: Uint8Array | undefined;
    for (; this.taken < sequence; this.taken += 1) event = this.due.events?.next().value;
    return event;
  }

  private report(
    kind: "lost" | "doubled" | "changed" | "beyond" | "position",
    detail: string,
    events = 0,
  ): void {
    if (kind === "lost") this.findings.lost += events;
    if (kind === "doubled") this.findings.doubled += events;
    this.findings.add(kind, { invocationId: this.due.build.invocationId, detail });
  }
}

/** The varint-delimited message at `at`; undefined when it is cut off. */
function readFrame(bytes: Uint8Array, at: number): { from: number; to: number } | undefined {
  let length = 0;
  let from = at;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[from];
    if (byte === undefined) return undefined;
    from += 1;
    length += (byte & 127) * scale;
    if (byte < 128) break;
  }
  return from + length > bytes.length ? undefined : { from, to: from + length };
}
