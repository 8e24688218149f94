import { FieldScanner, type Malformed, wireBytes } from "../wire/field-scanner.ts";

/** Field numbers of `build_event_stream.BuildEvent.payload`. */
export const payloadField = {
  progress: 3,
  aborted: 4,
  started: 5,
  expanded: 6,
  action: 7,
  completed: 8,
  testSummary: 9,
  testResult: 10,
  unstructuredCommandLine: 12,
  optionsParsed: 13,
  finished: 14,
  namedSetOfFiles: 15,
  workspaceStatus: 16,
  configuration: 17,
  configured: 18,
  fetch: 21,
  structuredCommandLine: 22,
  buildToolLogs: 23,
  buildMetrics: 24,
  workspaceInfo: 25,
  buildMetadata: 26,
  convenienceSymlinksIdentified: 27,
  targetSummary: 28,
  execRequest: 29,
  testProgress: 30,
} as const;

/** Field numbers of `build_event_stream.BuildEventId.id`. */
export const idField = {
  unknown: 1,
  progress: 2,
  started: 3,
  pattern: 4,
  targetCompleted: 5,
  actionCompleted: 6,
  testSummary: 7,
  testResult: 8,
  buildFinished: 9,
  patternSkipped: 10,
  unstructuredCommandLine: 11,
  optionsParsed: 12,
  namedSet: 13,
  workspaceStatus: 14,
  configuration: 15,
  targetConfigured: 16,
  fetch: 17,
  structuredCommandLine: 18,
  unconfiguredLabel: 19,
  buildToolLogs: 20,
  configuredLabel: 21,
  buildMetrics: 22,
  workspace: 23,
  buildMetadata: 24,
  convenienceSymlinksIdentified: 25,
  targetSummary: 26,
  execRequest: 28,
  testProgress: 29,
} as const;

const idMessageField = 1;
const childrenField = 2;
const lastMessageField = 20;

const payloadFields: ReadonlySet<number> = new Set(Object.values(payloadField));
const idFields: ReadonlySet<number> = new Set(Object.values(idField));
const eventFields: ReadonlySet<number> = new Set([
  idMessageField,
  childrenField,
  lastMessageField,
  ...payloadFields,
]);

/** Whether this version knows the payload or id with that field number; 0, none at all, is nothing unknown. */
export function isKnownPayload(field: number): boolean {
  return field === 0 || payloadFields.has(field);
}

export function isKnownId(field: number): boolean {
  return field === 0 || idFields.has(field);
}
const payloadNames = new Map<number, string>(
  Object.entries(payloadField).map(([name, field]) => [field, name]),
);
const idNames = new Map<number, string>(Object.entries(idField).map(([name, field]) => [field, name]));

/**
 * Which event this is, and where its parts lie in `bytes`. The kind of an event is that of its *payload*: an aborted
 * target has a target id and an aborted payload.
 */
export interface BepEvent {
  readonly kind: "bep";
  readonly bytes: Uint8Array;
  /** Field number of the payload; 0 when there is none. A number outside `payloadField` is a kind newer than we are. */
  readonly payload: number;
  readonly payloadStart: number;
  readonly payloadEnd: number;
  /** Field number of the id; 0 when there is none. */
  readonly id: number;
  readonly idStart: number;
  readonly idEnd: number;
  readonly childCount: number;
  readonly lastMessage: boolean;
  /** A field of the event that is neither of those we know nor its payload; 0 when there is none. */
  readonly unknownField: number;
  /** The whole event, where its children are. */
  readonly source: { readonly bytes: Uint8Array; readonly from: number; readonly to: number };
}

/** Member of a oneof as it is found: the last one wins, parts of the same one belong together. */
interface Member {
  field: number;
  from: number;
  to: number;
  parts: number;
}

/** Reads the kind of the BEP payload in `bytes[from, to)`; nothing inside the payload is looked at. Never throws. */
export function readKind(at: { bytes: Uint8Array; from: number; to: number }): BepEvent | Malformed {
  const payload: Member = { field: 0, from: at.from, to: at.from, parts: 0 };
  const id: Member = { field: 0, from: at.from, to: at.from, parts: 0 };
  let childCount = 0;
  let lastMessage = false;
  let unknown = 0;
  const scanner = new FieldScanner().reset(at.bytes, at.from, at.to);
  while (scanner.next()) {
    if (scanner.isVarint(lastMessageField)) lastMessage = scanner.bool;
    if (!eventFields.has(scanner.field)) unknown = scanner.field;
    if (scanner.wireType !== wireBytes) continue;
    if (scanner.field === childrenField) childCount += 1;
    else if (scanner.field === idMessageField) readId(scanner, id);
    else if (scanner.field !== lastMessageField) note(payload, scanner, payloadFields);
  }
  if (scanner.malformed) return scanner.malformed;
  const unknownField = unknown === payload.field ? 0 : unknown;
  if (payload.parts > 1 || id.parts > 1) {
    return joinParts(at, { payload: payload.field, id: id.field, unknownField });
  }
  return {
    kind: "bep",
    bytes: at.bytes,
    payload: payload.field,
    payloadStart: payload.from,
    payloadEnd: payload.to,
    id: id.field,
    idStart: id.from,
    idEnd: id.to,
    childCount,
    lastMessage,
    unknownField,
    source: at,
  };
}

/** The name of a payload, as BEP's JSON has it; "" for none, `field N` for one newer than we are. */
export function payloadName(field: number): string {
  return payloadNames.get(field) ?? (field === 0 ? "" : `field ${field}`);
}

/** The same for an id. */
export function idName(field: number): string {
  return idNames.get(field) ?? (field === 0 ? "" : `field ${field}`);
}

function readId(outer: FieldScanner, id: Member): void {
  const scanner = outer.child();
  while (scanner.next()) if (scanner.wireType === wireBytes) note(id, scanner, idFields);
}

/** A field we do not know counts only where none that we know is there: it may be a newer member, or no member at all. */
function note(member: Member, scanner: FieldScanner, known: ReadonlySet<number>): void {
  if (!known.has(scanner.field) && known.has(member.field)) return;
  member.parts = member.field === scanner.field ? member.parts + 1 : 1;
  member.field = scanner.field;
  member.from = scanner.from;
  member.to = scanner.to;
}

/** A sub-message in several parts is the concatenation of its parts since the last other member of its oneof. No known
 *  sender does this, so the copy does not matter. */
function joinParts(
  at: { bytes: Uint8Array; from: number; to: number },
  fields: { payload: number; id: number; unknownField: number },
): BepEvent | Malformed {
  const { payload, id, unknownField } = fields;
  const payloadParts = new Parts(payload, payloadFields);
  const idParts = new Parts(id, idFields);
  let childCount = 0;
  let lastMessage = false;
  const scanner = new FieldScanner().reset(at.bytes, at.from, at.to);
  while (scanner.next()) {
    if (scanner.isVarint(lastMessageField)) lastMessage = scanner.bool;
    if (scanner.wireType !== wireBytes) continue;
    if (scanner.field === childrenField) childCount += 1;
    else if (scanner.field === idMessageField) {
      const inner = scanner.child();
      while (inner.next()) if (inner.wireType === wireBytes) idParts.gather(inner);
    } else payloadParts.gather(scanner);
  }
  const payloadBytes = Buffer.concat(payloadParts.list);
  const bytes = Buffer.concat([payloadBytes, ...idParts.list]);
  return {
    kind: "bep",
    bytes,
    payload,
    payloadStart: 0,
    payloadEnd: payloadBytes.length,
    id,
    idStart: payloadBytes.length,
    idEnd: bytes.length,
    childCount,
    lastMessage,
    unknownField,
    source: at,
  };
}

/** The parts of one member of a oneof; another member drops what came before it. */
class Parts {
  readonly list: Uint8Array[] = [];
  private readonly field: number;
  private readonly known: ReadonlySet<number>;

  constructor(field: number, known: ReadonlySet<number>) {
    this.field = field;
    this.known = known;
  }

  gather(scanner: FieldScanner): void {
    if (scanner.field === this.field) this.list.push(scanner.bytes.subarray(scanner.from, scanner.to));
    else if (this.known.has(scanner.field)) this.list.length = 0;
  }
}
