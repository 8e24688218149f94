import { type Envelope, foreignContent, readEnvelope } from "@millrace/proto/bep/envelope";
import { type BepEvent, payloadField, readKind } from "@millrace/proto/bep/kind";
import { readProgress } from "@millrace/proto/bep/readers/progress";
import type { ICarry } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { ConsoleDetector, ConsoleText } from "../scrub/console-detector.ts";
import { decodeScrubState, encodeScrubState, type ScrubState } from "../scrub/detector-state.ts";
import { scrubConsoleText, scrubEvent } from "../scrub/event-scrubber.ts";
import { pairedPayloads } from "../scrub/message-shapes.ts";
import { type Places, placesToLook } from "../scrub/scan-text.ts";
import { deriveRows } from "./derive-rows.ts";
import { storable } from "./rows/present.ts";
import type { RowsBuilder } from "./rows-builder.ts";

/** Where projected events go: the batch that is being built. */
export interface EventSink {
  /** The next event in sequence, scrubbed, ready to be stored. May be a view of the input. */
  event(bytes: Uint8Array, facts: { endsStream: boolean; undecoded: boolean }): void;
  /** Log bytes that the event adds, in the order people read them; called before `event` of the same event. */
  log(bytes: Uint8Array): void;
  readonly rows: RowsBuilder;
}

/** An event that was looked at and waits until all its console text is decided on. */
interface Examined {
  readonly bytes: Uint8Array;
  /** Undefined when the bytes are not a BuildEvent. */
  readonly envelope: Envelope | undefined;
  /** Undefined when there is no BEP event inside, or none that can be read. */
  readonly bep: BepEvent | undefined;
  readonly places: Places;
  readonly stderr: ConsoleText | undefined;
  readonly stdout: ConsoleText | undefined;
}

/**
 * Event bytes in order → scrubbed bytes, log bytes, row deltas. Pure: the same events and carry give the same.
 *
 * A progress event whose text ends in what may be the beginning of a secret is held, and all events behind it, until
 * the next text of the same console stream decides, or `releaseHeld`.
 */
export class Projector {
  private finishSeen: boolean;
  private readonly sink: () => EventSink;
  private readonly stderr: ConsoleDetector;
  private readonly stdout: ConsoleDetector;
  /** The detectors' states behind the last emitted event. */
  private emitted: ScrubState;
  private readonly queue: Examined[] = [];

  constructor(carry: ICarry | undefined, sink: () => EventSink) {
    this.finishSeen = carry?.finishSeen ?? false;
    this.sink = sink;
    this.emitted = decodeScrubState(carry?.scrub ?? nothing);
    this.stderr = new ConsoleDetector(this.emitted.stderr);
    this.stdout = new ConsoleDetector(this.emitted.stdout);
  }

  /** Takes the next event. Emits it (and any held ones before it) to the sink, or holds it. */
  offer(event: Uint8Array): void {
    const examined = this.examine(event);
    if (this.queue.length === 0 && isDecided(examined)) {
      this.emit(examined);
      return;
    }
    this.queue.push(examined);
    // No progress can come behind the end of the stream.
    if (examined.envelope?.kind === "stream-finished") this.releaseHeld();
    else this.emitDecided();
  }

  /** Number of events held back because a secret may go on in the next progress text. */
  get held(): number {
    return this.queue.length;
  }

  /** The wait is over: the doubtful tail is masked and everything held is emitted. */
  releaseHeld(): void {
    this.stderr.release();
    this.stdout.release();
    this.emitDecided();
  }

  /** What the next owner needs, as of the last emitted event. */
  carry(): { scrub: Uint8Array; finishSeen: boolean } {
    return { scrub: encodeScrubState(this.emitted), finishSeen: this.finishSeen };
  }

  private examine(bytes: Uint8Array): Examined {
    const envelope = readEnvelope(bytes);
    if (isMalformed(envelope)) {
      const places = placesToLook(bytes, { anyMarker: false });
      return { bytes, envelope: undefined, bep: undefined, places, stderr: undefined, stdout: undefined };
    }
    const bep = readBep(envelope);
    const places = placesToLook(bytes, { anyMarker: bep !== undefined && pairedPayloads.has(bep.payload) });
    if (bep?.payload === payloadField.progress) return this.examineProgress({ bytes, envelope, bep, places });
    return { bytes, envelope, bep, places, stderr: undefined, stdout: undefined };
  }

  private examineProgress(event: Omit<Examined, "stderr" | "stdout"> & { bep: BepEvent }): Examined {
    const progress = readProgress(event.bep);
    if (isMalformed(progress)) return { ...event, bep: undefined, stderr: undefined, stdout: undefined };
    const stderr = consoleText(progress.bytes, progress.stderrStart, progress.stderrEnd);
    const stdout = consoleText(progress.bytes, progress.stdoutStart, progress.stdoutEnd);
    const clean = event.places.length === 0;
    if (stderr !== undefined) this.stderr.take(stderr, clean);
    if (stdout !== undefined) this.stdout.take(stdout, clean);
    return { ...event, stderr, stdout };
  }

  private emitDecided(): void {
    let count = 0;
    for (const examined of this.queue) {
      if (!isDecided(examined)) break;
      this.emit(examined);
      count += 1;
    }
    this.queue.splice(0, count);
  }

  private emit(examined: Examined): void {
    const { bytes, envelope, places, stderr, stdout } = examined;
    const sink = this.sink();
    let consoleTexts: readonly ConsoleText[] = noTexts;
    if (stderr !== undefined || stdout !== undefined) {
      consoleTexts = [stderr, stdout].filter((text) => text !== undefined);
      for (const text of consoleTexts) sink.log(scrubConsoleText(text));
      this.emitted = {
        stderr: stderr?.stateAfter ?? this.emitted.stderr,
        stdout: stdout?.stateAfter ?? this.emitted.stdout,
      };
    }
    const scrubbed = scrubEvent({ bytes, envelope }, { places, consoleTexts });
    const isDecoded = this.project(examined, { scrubbed, rows: sink.rows });
    sink.event(scrubbed, { endsStream: envelope?.kind === "stream-finished", undecoded: !isDecoded });
  }

  /** Rows come from the scrubbed bytes, so nothing that was masked can be in them. */
  private project(examined: Examined, into: { scrubbed: Uint8Array; rows: RowsBuilder }): boolean {
    const { envelope, bytes } = examined;
    if (envelope === undefined) return false;
    if (envelope.kind === "other" || (envelope.kind === "bazel" && !envelope.typeUrlOk)) {
      into.rows.countUnknown(storable(foreignContent(into.scrubbed)));
    }
    if (envelope.kind !== "bazel") return true;
    const bep = into.scrubbed === bytes ? examined.bep : readAgain(into.scrubbed, examined);
    if (bep === undefined) return false;
    if (bep.payload === payloadField.finished) this.finishSeen = true;
    return bep.payload === payloadField.progress || deriveRows(bep, into.rows, envelope.eventTimeMs);
  }
}

const nothing = new Uint8Array(0);
const noTexts: readonly ConsoleText[] = [];

function isDecided({ stderr, stdout }: Examined): boolean {
  return isTextDecided(stderr) && isTextDecided(stdout);
}

function isTextDecided(text: ConsoleText | undefined): boolean {
  return text === undefined || text.stateAfter !== undefined;
}

function consoleText(bytes: Uint8Array, from: number, to: number): ConsoleText | undefined {
  return from === to ? undefined : new ConsoleText(bytes, from, to);
}

function readBep(envelope: Envelope): BepEvent | undefined {
  if (envelope.kind !== "bazel" || !envelope.typeUrlOk) return undefined;
  const bep = readKind({ bytes: envelope.bytes, from: envelope.payloadStart, to: envelope.payloadEnd });
  return isMalformed(bep) ? undefined : bep;
}

function readAgain(scrubbed: Uint8Array, { bep }: Examined): BepEvent | undefined {
  if (bep === undefined) return undefined;
  const envelope = readEnvelope(scrubbed);
  return isMalformed(envelope) ? undefined : readBep(envelope);
}
