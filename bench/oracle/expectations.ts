import type { ExpectedBuild } from "@millrace/test/model/expected-build";
import { expectedInWords, type RowsInWords } from "@millrace/test/model/in-words-of-the-model";
import { reduceEvents } from "@millrace/test/model/reduce";
import type { BuildLine } from "../load/run-log.ts";
import type { Workload } from "../workloads/workload.ts";
import { eventsOfBuild } from "./sent-events.ts";

/** What must be stored of a build of which so many events are; its events were sent at `startMs` 0. */
export interface Expectation {
  readonly rows: RowsInWords;
  readonly status: ExpectedBuild["invocation"]["status"];
  readonly log: Buffer;
  readonly logLines: number;
}

// An unfinished build's expectation serves that build alone; those of whole ones serve thousands.
const partsHeld = 4;

/** Makes the sent events again, and what must come of them: once per variant, since ids and times of sending do not matter. */
export class Expectations {
  private readonly makeWorkload: (name: string) => Workload;
  private readonly workloads = new Map<string, Workload>();
  private readonly whole = new Map<string, Expectation>();
  private readonly parts = new Map<string, Expectation>();

  constructor(makeWorkload: (name: string) => Workload) {
    this.makeWorkload = makeWorkload;
  }

  /** Why the builds of that workload cannot be judged, or undefined. */
  whyNot({ workload: name, workloadHash }: BuildLine): string | undefined {
    const { hash } = this.workloadOf(name);
    return hash === workloadHash
      ? undefined
      : `the run was made with workload ${name} ${workloadHash}, here it is ${hash}`;
  }

  /** The first `stored` events of a build as they must be stored. */
  events(build: BuildLine): Iterable<Uint8Array> {
    return eventsOfBuild(this.workloadOf(build.workload).storedPayloads(build.variant), build.startMs);
  }

  /** What must come of the first `stored` events. */
  of(build: BuildLine, stored: number): Expectation {
    const cache = stored === build.events ? this.whole : this.parts;
    const key = `${build.workload} ${build.variant} ${stored}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const made = this.reduce(build, stored);
    const [oldest] = this.parts.keys();
    if (cache === this.parts && this.parts.size === partsHeld) this.parts.delete(oldest ?? "");
    cache.set(key, made);
    return made;
  }

  private reduce(build: BuildLine, stored: number): Expectation {
    const expected = reduceEvents(firstOf(this.events({ ...build, startMs: 0 }), stored));
    const { log } = expected;
    return {
      rows: expectedInWords(expected),
      status: expected.invocation.status,
      log,
      logLines: countLineFeeds(log, { from: 0, to: log.length }),
    };
  }

  private workloadOf(name: string): Workload {
    const workload = this.workloads.get(name) ?? this.makeWorkload(name);
    this.workloads.set(name, workload);
    return workload;
  }
}

function* firstOf(
  events: Iterable<Uint8Array>,
  count: number,
): Generator<{ sequence: number; event: Uint8Array }> {
  let sequence = 0;
  for (const event of events) {
    if (sequence === count) return;
    sequence += 1;
    yield { sequence, event };
  }
}

export function countLineFeeds(bytes: Uint8Array, { from, to }: { from: number; to: number }): number {
  let count = 0;
  for (let at = bytes.indexOf(10, from); at !== -1 && at < to; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
