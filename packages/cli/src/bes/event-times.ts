import { payloadField, readKind } from "@millrace/proto/bep/kind";
import { readFinished } from "@millrace/proto/bep/readers/finished";
import { readStarted } from "@millrace/proto/bep/readers/started";
import { readTestResult } from "@millrace/proto/bep/readers/test-result";
import { isMalformed } from "@millrace/proto/wire/field-scanner";

/**
 * When the events of a BEP file happened. The file has no times of its own, only some of its events tell one: each
 * event is taken to have happened at the latest time told so far. The same file always gives the same times, so that
 * its events sent twice are the same events.
 */
export class EventTimes {
  /** From the started event; "" before it. */
  invocationId = "";
  command = "";
  #latestMs: number | undefined;

  /** The time of the next event, in milliseconds since the epoch; undefined as long as none told one. */
  after(payload: Uint8Array): number | undefined {
    const toldMs = this.#told(payload);
    if (toldMs !== undefined) this.#latestMs = Math.max(toldMs, this.#latestMs ?? toldMs);
    return this.#latestMs;
  }

  #told(payload: Uint8Array): number | undefined {
    const event = readKind({ bytes: payload, from: 0, to: payload.length });
    if (event.kind === "malformed") return undefined;
    if (event.payload === payloadField.started) {
      const started = readStarted(event);
      if (isMalformed(started)) return undefined;
      this.invocationId = started.uuid;
      this.command = started.command;
      return started.startedAtMs;
    }
    if (event.payload === payloadField.finished) {
      const finished = readFinished(event);
      return isMalformed(finished) ? undefined : finished.finishedAtMs;
    }
    if (event.payload !== payloadField.testResult) return undefined;
    const result = readTestResult(event);
    if (isMalformed(result) || result.startedAtMs === undefined) return undefined;
    return result.startedAtMs + (result.durationMs ?? 0);
  }
}
