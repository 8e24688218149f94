import { type BepEvent, decodeEvent, decodeRequest, type EventContent } from "./decode.ts";
import type { ExpectedBuild, ExpectedEvent } from "./expected-build.ts";
import { InvocationReducer } from "./reduce-invocation.ts";
import { SaidReducer } from "./reduce-said.ts";
import { TargetReducer } from "./reduce-targets.ts";
import { TestReducer } from "./reduce-tests.ts";

/** One event of an attempt: its place and its google.devtools.build.v1.BuildEvent. */
export interface NumberedEvent {
  readonly sequence: number;
  readonly event: Uint8Array;
}

/**
 * What the system must show of an attempt with these events: each once, ascending. Independent of how the system
 * computes it: decoded by reflection, in memory, in one pass.
 */
export function reduceEvents(events: Iterable<NumberedEvent>): ExpectedBuild {
  const invocation = new InvocationReducer();
  const targets = new TargetReducer();
  const tests = new TestReducer();
  const said = new SaidReducer();
  const log: Uint8Array[] = [];
  const list: ExpectedEvent[] = [];
  let ended = false;
  let undecodable = 0;
  for (const { sequence, event } of events) {
    const content = decodeEvent(event);
    list.push({ sequence, timeMs: content.timeMs, kind: kindOf(content) });
    if (content.kind === "stream-finished") ended = true;
    if (content.kind === "undecodable") undecodable += 1;
    if (content.kind !== "bazel") continue;
    invocation.add(content.bep);
    targets.add(content.bep, content.timeMs);
    tests.add(content.bep);
    said.add(content.bep, sequence);
    log.push(...consoleOf(content.bep));
  }
  const rows = { targets: targets.rows(), testResults: tests.results(), testSummaries: tests.summaries() };
  return {
    invocation: invocation.row(ended, rows),
    ...rows,
    said: said.said(),
    log: Buffer.concat(log),
    events: list,
    ended,
    undecodable,
  };
}

/** The same for the requests of a stream as they were sent. */
export function reduceRequests(requests: readonly Uint8Array[]): ExpectedBuild {
  return reduceEvents(requests.map(decodeRequest));
}

function kindOf(content: EventContent): string {
  return content.kind === "bazel" ? (content.bep.payload ?? "none") : content.kind;
}

/** Bazel prints what an event holds of stderr before what it holds of stdout: its recorded consoles show it. */
function consoleOf({ progress }: BepEvent): Uint8Array[] {
  return progress ? [Buffer.from(progress.stderr), Buffer.from(progress.stdout)] : [];
}
