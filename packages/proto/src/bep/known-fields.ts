import { FieldScanner } from "../wire/field-scanner.ts";
import { type BepEvent, idName, isKnownId, isKnownPayload, payloadField, payloadName } from "./kind.ts";

/** The field numbers of a payload's message up to 31, as bits. */
function bits(...fields: readonly number[]): number {
  return fields.reduce((mask, field) => mask | (1 << field), 0);
}

function upTo(last: number): number {
  return bits(...Array.from({ length: last }, (_, index) => index + 1));
}

/**
 * Field numbers that this version knows of each payload's message; source: build_event_stream.proto. Console text and
 * structured command lines are not looked into: nothing was ever added to the former, and the latter stay in the raw event.
 */
const knownFields = new Map<number, number>([
  [payloadField.aborted, upTo(2)],
  [payloadField.started, upTo(11)],
  [payloadField.expanded, upTo(1)],
  [payloadField.action, upTo(9) | bits(11, 12, 13, 14)],
  [payloadField.completed, upTo(10)],
  [payloadField.testSummary, bits(1) | (upTo(15) & ~upTo(2))],
  [payloadField.testResult, upTo(11) & ~upTo(1)],
  [payloadField.unstructuredCommandLine, upTo(1)],
  [payloadField.optionsParsed, upTo(6)],
  [payloadField.finished, upTo(6)],
  [payloadField.namedSetOfFiles, upTo(2)],
  [payloadField.workspaceStatus, upTo(1)],
  [payloadField.configuration, upTo(5)],
  [payloadField.configured, upTo(3)],
  [payloadField.fetch, upTo(1)],
  [payloadField.buildToolLogs, upTo(1)],
  [payloadField.buildMetrics, upTo(13)],
  [payloadField.workspaceInfo, upTo(1)],
  [payloadField.buildMetadata, upTo(1)],
  [payloadField.convenienceSymlinksIdentified, upTo(1)],
  [payloadField.targetSummary, upTo(2)],
  [payloadField.execRequest, upTo(5)],
  [payloadField.testProgress, upTo(1)],
]);

const scanner = new FieldScanner();

/**
 * What in an event this version does not know, in words, the first that is found: a payload, an id, a field of the
 * event or of its payload. Undefined when it knows all. Fields further inside are not looked for.
 */
export function unknownPart(event: BepEvent): string | undefined {
  if (!isKnownPayload(event.payload)) return `payload ${event.payload}`;
  if (!isKnownId(event.id)) return `id ${idName(event.id)}`;
  if (event.unknownField !== 0) return `field ${event.unknownField}`;
  const known = knownFields.get(event.payload);
  if (known === undefined) return undefined;
  const field = firstUnknown(event, known);
  return field === 0 ? undefined : `${payloadName(event.payload)} field ${field}`;
}

function firstUnknown(event: BepEvent, known: number): number {
  let unknown = 0;
  scanner.reset(event.bytes, event.payloadStart, event.payloadEnd);
  while (unknown === 0 && scanner.next()) {
    if (scanner.field > 31 || ((known >>> scanner.field) & 1) === 0) unknown = scanner.field;
  }
  scanner.release();
  return unknown;
}
