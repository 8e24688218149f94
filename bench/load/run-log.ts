import { closeSync, createReadStream, openSync, write } from "node:fs";
import { createInterface } from "node:readline";
import { type Clock, every } from "@millrace/base/clock";

/**
 * What a load run did, in the order it did it: one JSON object a line. With `EventEncoder` and the workload every sent
 * byte can be made again: event k (from 1, the end of the stream is the last) of a build has the event time startMs + k,
 * the projectId is "", the keywords are FakeBazel's own.
 */
export type RunLogLine = RunLine | BuildLine | AckedLine | EndLine;

/** A process of the generator has begun: the first line it writes, once per process. */
interface RunLine {
  readonly kind: "run";
  readonly startedAtMs: number;
}

/** A build is about to be uploaded: written before its first byte leaves. */
export interface BuildLine {
  readonly kind: "build";
  readonly invocationId: string;
  readonly buildId: string;
  /** Name for `workloadNamed`; of a mixed run the one this build is of. */
  readonly workload: string;
  readonly workloadHash: string;
  readonly variant: number;
  readonly startMs: number;
  /** Events of the build, the end of the stream included. */
  readonly events: number;
  /** Bazel's exit code of the build itself. */
  readonly exitCode: number;
}

/** Events 1 … `to` are acknowledged. At most every 100 ms per build, and once more before its end. */
interface AckedLine {
  readonly kind: "acked";
  readonly invocationId: string;
  readonly to: number;
}

/** The upload is over. A build without this line was under way when the generator was killed. */
export interface EndLine {
  readonly kind: "end";
  readonly invocationId: string;
  /** `done`: Bazel would report a good upload. `failed`: it gave up. `died`: it was killed in mid-build. */
  readonly outcome: "done" | "failed" | "died";
  /** Events that were sent at least once: 1 … `sent`. */
  readonly sent: number;
  readonly acked: number;
  /** Sendings beyond each event's first. */
  readonly resent: number;
  /** What Bazel prints about a failed upload; "" otherwise. */
  readonly message: string;
}

// What was acked must be on disk within 1 s, also when this process is killed.
const flushPeriodMs = 100;

/**
 * Appends to a run log. Lines are held back for up to 100 ms and leave as whole lines in one appending write, so
 * several processes can share a file. `acked` may be called for every ack: it costs a store.
 */
export class RunLogWriter {
  private readonly file: number;
  private readonly acks = new Set<LoggedBuild>();
  private readonly stopFlushing: () => void;
  private lines: string[] = [];
  private writing: Promise<void> | undefined;

  constructor(path: string, clock: Clock) {
    this.file = openSync(path, "a");
    this.add({ kind: "run", startedAtMs: clock.now() });
    this.stopFlushing = every(clock, flushPeriodMs, () => this.flush());
  }

  begin(build: Omit<BuildLine, "kind">): LoggedBuild {
    this.add({ kind: "build", ...build });
    return new LoggedBuild(build.invocationId, this.acks);
  }

  end(build: LoggedBuild, end: Omit<EndLine, "kind" | "invocationId">): void {
    this.acks.delete(build);
    const { invocationId } = build;
    if (end.acked > build.loggedTo) this.add({ kind: "acked", invocationId, to: end.acked });
    this.add({ kind: "end", invocationId, ...end });
  }

  /** Resolves when all is in the file. Rejects when the file takes no more; the periodic one then ends the process. */
  async flush(): Promise<void> {
    // One at a time: two writes that overlap could change places in the file.
    while (this.writing !== undefined) await this.writing;
    for (const build of this.acks) {
      build.loggedTo = build.ackedTo;
      this.add({ kind: "acked", invocationId: build.invocationId, to: build.ackedTo });
    }
    this.acks.clear();
    if (this.lines.length === 0) return;
    const bytes = Buffer.from(this.lines.join(""));
    this.lines = [];
    this.writing = append(this.file, bytes).finally(() => {
      this.writing = undefined;
    });
    await this.writing;
  }

  async close(): Promise<void> {
    this.stopFlushing();
    await this.flush();
    closeSync(this.file);
  }

  private add(line: RunLogLine): void {
    this.lines.push(`${JSON.stringify(line)}\n`);
  }
}

/** A build in a run log, while it is uploaded. */
export class LoggedBuild {
  readonly invocationId: string;
  ackedTo = 0;
  loggedTo = 0;
  private readonly changed: Set<LoggedBuild>;

  constructor(invocationId: string, changed: Set<LoggedBuild>) {
    this.invocationId = invocationId;
    this.changed = changed;
  }

  acked(to: number): void {
    if (this.ackedTo === this.loggedTo) this.changed.add(this);
    this.ackedTo = to;
  }
}

/** A part of a line would spoil a file that others append to, so a short write is a failure. */
function append(file: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    write(file, bytes, (error, written) => {
      if (error !== null) reject(error);
      else if (written < bytes.length)
        reject(new Error("the run log could not be written: is the disk full?"));
      else resolve();
    });
  });
}

const kinds: readonly string[] = ["run", "build", "acked", "end"];

/**
 * Reads a run log. A last line without its newline is what a killed generator leaves and is passed over; any other
 * line that is none of ours rejects with its number.
 */
export async function* readRunLog(path: string): AsyncGenerator<RunLogLine> {
  let number = 0;
  let held: string | undefined;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: 0 })) {
    if (held !== undefined) yield parseLine(held, ++number);
    held = text;
  }
  if (held === undefined) return;
  const last = parseOrNothing(held);
  if (last !== undefined) yield last;
}

/** A build as the log tells it in the end. */
export interface BuildRecord {
  readonly build: BuildLine;
  /** Highest acknowledged event; 0 for none. */
  readonly ackedTo: number;
  /** Undefined when the generator was killed before the upload was over. */
  readonly end: EndLine | undefined;
}

/** All builds of a run log, in the order they began. */
export async function readBuilds(path: string): Promise<BuildRecord[]> {
  const builds = new Map<string, { build: BuildLine; ackedTo: number; end: EndLine | undefined }>();
  for await (const line of readRunLog(path)) {
    if (line.kind === "run") continue;
    if (line.kind === "build") {
      builds.set(line.invocationId, { build: line, ackedTo: 0, end: undefined });
      continue;
    }
    const record = builds.get(line.invocationId);
    if (record === undefined) throw new Error(`${path}: ${line.invocationId} has no line "build"`);
    record.ackedTo = Math.max(record.ackedTo, line.kind === "acked" ? line.to : line.acked);
    if (line.kind === "end") record.end = line;
  }
  return [...builds.values()];
}

function parseLine(text: string, number: number): RunLogLine {
  const line = parseOrNothing(text);
  if (line === undefined) throw new Error(`line ${number} is not of a run log: ${text.slice(0, 80)}`);
  return line;
}

function parseOrNothing(text: string): RunLogLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    const kind = typeof line === "object" && line !== null && "kind" in line ? line.kind : undefined;
    return typeof kind === "string" && kinds.includes(kind) ? (line as RunLogLine) : undefined;
  } catch {
    return undefined;
  }
}
