import type { Envelope } from "@millrace/proto/bep/envelope";
import type { ConsoleText } from "./console-detector.ts";
import { applyEdits, maskText } from "./edits.ts";
import { EventWalker } from "./event-walker.ts";
import { anyField, bepAnyShape, buildEventShape } from "./message-shapes.ts";
import { maskOpaque } from "./opaque.ts";
import type { Places } from "./scan-text.ts";
import { WireCursor } from "./wire-cursor.ts";

/**
 * A `google.devtools.build.v1.BuildEvent` with its secrets masked; the same array when there is nothing to mask.
 * `places` is what `placesToLook` found in it; `consoleTexts` its console texts, examined by their streams' detectors.
 */
export function scrubEvent(
  event: { bytes: Uint8Array; envelope: Envelope | undefined },
  found: { places: Places; consoleTexts: readonly ConsoleText[] },
): Uint8Array {
  const { bytes, envelope } = event;
  const isMasked = found.consoleTexts.some((text) => text.spans.length > 0);
  if (found.places.length === 0 && !isMasked) return bytes;
  const range = { from: 0, to: bytes.length };
  if (envelope === undefined) return edited(bytes, maskOpaque({ bytes, ...range }));
  const walker = new EventWalker(bytes, found.places, found.consoleTexts);
  const cursor = new WireCursor(bytes, range.from, range.to);
  while (cursor.next()) {
    if (!cursor.isDelimited) continue;
    const { from, to } = cursor;
    const shape = cursor.field === anyField ? bepAnyOf(envelope) : buildEventShape.fields.get(cursor.field);
    if (typeof shape !== "object") walker.opaque(from, to);
    else walker.field(cursor, () => walker.walk(shape, from, to));
  }
  return edited(bytes, walker.edits);
}

function bepAnyOf(envelope: Envelope): typeof bepAnyShape | undefined {
  return envelope.typeUrlOk ? bepAnyShape : undefined;
}

function edited(bytes: Uint8Array, edits: EventWalker["edits"]): Uint8Array {
  return edits.length === 0 ? bytes : applyEdits(bytes, { from: 0, to: bytes.length }, edits);
}

/** A console text with its secrets masked; a view when there are none. */
export function scrubConsoleText({ bytes, from, to, spans }: ConsoleText): Uint8Array {
  const edits = spans.map((span) => ({ from: span.from, to: span.to, bytes: maskText(span) }));
  return applyEdits(bytes, { from, to }, edits);
}
