import { readEnvelope } from "@millrace/proto/bep/envelope";
import { type BepEvent, payloadField, readKind } from "@millrace/proto/bep/kind";
import { readProgress } from "@millrace/proto/bep/readers/progress";
import type { ICarry } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { deriveRows } from "./derive-rows.ts";
import type { RowsBuilder } from "./rows-builder.ts";

/** Where projected events go: the batch that is being built. */
export interface EventSink {
  /** The next event in sequence, scrubbed, ready to be stored. May be a view of the input. */
  event(bytes: Uint8Array, facts: { endsStream: boolean; undecoded: boolean }): void;
  /** Log bytes that the event adds, in the order people read them; called before `event` of the same event. */
  log(bytes: Uint8Array): void;
  readonly rows: RowsBuilder;
}

/**
 * Event bytes in order → scrubbed bytes, log bytes, row deltas. Pure: the same events and carry give the same.
 */
export class Projector {
  private finishSeen: boolean;
  private readonly sink: () => EventSink;

  constructor(carry: ICarry | undefined, sink: () => EventSink) {
    this.finishSeen = carry?.finishSeen ?? false;
    this.sink = sink;
  }

  /** Takes the next event. Emits it (and any held ones before it) to the sink, or holds it. */
  offer(event: Uint8Array): void {
    const sink = this.sink();
    const envelope = readEnvelope(event);
    if (isMalformed(envelope)) return sink.event(event, { endsStream: false, undecoded: true });
    if (envelope.kind !== "bazel") {
      return sink.event(event, { endsStream: envelope.kind === "stream-finished", undecoded: false });
    }
    const bep = envelope.typeUrlOk
      ? readKind({ bytes: event, from: envelope.payloadStart, to: envelope.payloadEnd })
      : undefined;
    if (bep === undefined || isMalformed(bep))
      return sink.event(event, { endsStream: false, undecoded: true });
    const isDecoded = this.project(bep, { sink, eventTimeMs: envelope.eventTimeMs });
    sink.event(event, { endsStream: false, undecoded: !isDecoded });
  }

  /** Number of events held back because a secret may go on in the next progress text. */
  get held(): number {
    return 0;
  }

  /** The wait is over: the doubtful tail is masked and everything held is emitted. */
  releaseHeld(): void {}

  /** What the next owner needs, as of the last emitted event. */
  carry(): { scrub: Uint8Array; finishSeen: boolean } {
    return { scrub: new Uint8Array(0), finishSeen: this.finishSeen };
  }

  private project(bep: BepEvent, to: { sink: EventSink; eventTimeMs: number | undefined }): boolean {
    if (bep.payload === payloadField.finished) this.finishSeen = true;
    if (bep.payload !== payloadField.progress) return deriveRows(bep, to.sink.rows, to.eventTimeMs);
    const progress = readProgress(bep);
    if (isMalformed(progress)) return false;
    to.sink.log(progress.bytes.subarray(progress.stderrStart, progress.stderrEnd));
    to.sink.log(progress.bytes.subarray(progress.stdoutStart, progress.stdoutEnd));
    return true;
  }
}
