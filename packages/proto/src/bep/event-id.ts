import { FieldScanner, isMalformed, type Malformed } from "../wire/field-scanner.ts";
import { type BepEvent, idField } from "./kind.ts";

/** What an event is about, whatever its payload. Only what its kind of id has is set; the rest is "" or 0. */
export interface EventId {
  /** Field number of the id; see `idField`. */
  readonly field: number;
  readonly label: string;
  /** As sent: "" for the target itself. */
  readonly aspect: string;
  /** Id of the configuration, as a `configuration` event names it. */
  readonly configuration: string;
  readonly run: number;
  readonly shard: number;
  readonly attempt: number;
  /** Path of an action's primary output, id of a named set, URL of a fetch, label of a command line. */
  readonly name: string;
  readonly patterns: readonly string[];
}

/** Where an id keeps its parts; undefined where it has none. Field numbers differ from id to id. */
interface Layout {
  readonly label?: number;
  readonly aspect?: number;
  readonly configuration?: number;
  readonly run?: number;
  readonly shard?: number;
  readonly attempt?: number;
  readonly name?: number;
  readonly patterns?: number;
}

const layouts = new Map<number, Layout>([
  [idField.unknown, { name: 1 }],
  [idField.pattern, { patterns: 1 }],
  [idField.patternSkipped, { patterns: 1 }],
  [idField.targetCompleted, { label: 1, aspect: 2, configuration: 3 }],
  [idField.actionCompleted, { name: 1, label: 2, configuration: 3 }],
  [idField.testSummary, { label: 1, configuration: 2 }],
  [idField.testResult, { label: 1, run: 2, shard: 3, attempt: 4, configuration: 5 }],
  [idField.namedSet, { name: 1 }],
  [idField.configuration, { name: 1 }],
  [idField.targetConfigured, { label: 1, aspect: 2 }],
  [idField.fetch, { name: 1 }],
  [idField.structuredCommandLine, { name: 1 }],
  [idField.unconfiguredLabel, { label: 1 }],
  [idField.configuredLabel, { label: 1, configuration: 2 }],
  [idField.targetSummary, { label: 1, configuration: 2 }],
  [idField.testProgress, { label: 1, configuration: 2, run: 3, shard: 4, attempt: 5 }],
]);

const noParts: Layout = {};
// ConfigurationId, within the ids of targets, tests and actions.
const configurationIdField = 1;

/** Reads the id of an event. Never throws. */
export function readEventId(event: BepEvent): EventId | Malformed {
  const { bytes, id, idStart, idEnd } = event;
  return readIdMember(id, new FieldScanner().reset(bytes, idStart, idEnd));
}

// build_event_stream.BuildEvent
const childrenField = 2;

/**
 * The children of kind `field` (see `idField`) that an event announces, in order. A configured target announces its
 * completion there, with the configuration that its own id lacks.
 */
export function readAnnounced(event: BepEvent, field: number): readonly EventId[] | Malformed {
  const ids: EventId[] = [];
  const { bytes, from, to } = event.source;
  const scanner = new FieldScanner().reset(bytes, from, to);
  while (scanner.next()) {
    if (!scanner.isBytes(childrenField)) continue;
    const child = scanner.child();
    while (child.next()) {
      if (!child.isBytes(field)) continue;
      const id = readIdMember(field, child.child());
      if (!isMalformed(id)) ids.push(id);
    }
  }
  return scanner.malformed ?? ids;
}

/** A number in the id of an event that `EventId` has no place for; 0 when it is absent. */
export function readIdNumber(event: BepEvent, field: number): { readonly value: number } | Malformed {
  let value = 0;
  const scanner = new FieldScanner().reset(event.bytes, event.idStart, event.idEnd);
  while (scanner.next()) if (scanner.isVarint(field)) value = scanner.int32;
  return scanner.malformed ?? { value };
}

function readIdMember(field: number, scanner: FieldScanner): EventId | Malformed {
  const layout = layouts.get(field) ?? noParts;
  let label = "";
  let aspect = "";
  let configuration = "";
  let name = "";
  let run = 0;
  let shard = 0;
  let attempt = 0;
  const patterns: string[] = [];
  while (scanner.next()) {
    if (scanner.isBytes(layout.label ?? 0)) label = scanner.text;
    else if (scanner.isBytes(layout.aspect ?? 0)) aspect = scanner.text;
    else if (scanner.isBytes(layout.configuration ?? 0)) {
      const inner = scanner.child();
      while (inner.next()) if (inner.isBytes(configurationIdField)) configuration = inner.text;
    } else if (scanner.isBytes(layout.name ?? 0)) name = scanner.text;
    else if (scanner.isBytes(layout.patterns ?? 0)) patterns.push(scanner.text);
    else if (scanner.isVarint(layout.run ?? 0)) run = scanner.int32;
    else if (scanner.isVarint(layout.shard ?? 0)) shard = scanner.int32;
    else if (scanner.isVarint(layout.attempt ?? 0)) attempt = scanner.int32;
  }
  if (scanner.malformed) return scanner.malformed;
  return { field, label, aspect, configuration, run, shard, attempt, name, patterns };
}
