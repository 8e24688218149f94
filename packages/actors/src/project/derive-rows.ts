import { type BepEvent, payloadField } from "@millrace/proto/bep/kind";
import { unknownPart } from "@millrace/proto/bep/known-fields";
import { abortedRows } from "./rows/aborted.ts";
import { actionRows } from "./rows/action.ts";
import {
  convenienceSymlinksRows,
  execRequestRows,
  fetchRows,
  metricsRows,
  optionsRows,
  testProgressRows,
  toolLogsRows,
  workspaceConfigRows,
} from "./rows/details.ts";
import { finishedRows } from "./rows/finished.ts";
import { namedSetRows } from "./rows/named-set.ts";
import { patternRows } from "./rows/pattern.ts";
import { startedRows } from "./rows/started.ts";
import {
  buildMetadataRows,
  commandLineRows,
  configurationRows,
  workspaceStatusRows,
} from "./rows/surroundings.ts";
import { targetCompleteRows, targetConfiguredRows, targetSummaryRows } from "./rows/target.ts";
import { testResultRows, testSummaryRows } from "./rows/test.ts";
import type { RowsBuilder } from "./rows-builder.ts";

/** Adds what one kind of event says to the rows; false when its payload does not decode. */
type Derive = (event: BepEvent, rows: RowsBuilder, eventTimeMs: number | undefined) => boolean;

/** By payload, never by id: an aborted target has a target's id. Kinds that are not here make no rows. */
const byPayload: ReadonlyMap<number, Derive> = new Map<number, Derive>([
  [payloadField.started, startedRows],
  [payloadField.unstructuredCommandLine, commandLineRows],
  [payloadField.workspaceStatus, workspaceStatusRows],
  [payloadField.buildMetadata, buildMetadataRows],
  [payloadField.configuration, configurationRows],
  [payloadField.expanded, patternRows],
  [payloadField.configured, targetConfiguredRows],
  [payloadField.completed, targetCompleteRows],
  [payloadField.aborted, abortedRows],
  [payloadField.testResult, testResultRows],
  [payloadField.testSummary, testSummaryRows],
  [payloadField.finished, finishedRows],
  [payloadField.buildMetrics, metricsRows],
  [payloadField.action, actionRows],
  [payloadField.namedSetOfFiles, namedSetRows],
  [payloadField.optionsParsed, optionsRows],
  [payloadField.workspaceInfo, workspaceConfigRows],
  [payloadField.convenienceSymlinksIdentified, convenienceSymlinksRows],
  [payloadField.execRequest, execRequestRows],
  [payloadField.buildToolLogs, toolLogsRows],
  [payloadField.fetch, fetchRows],
  [payloadField.testProgress, testProgressRows],
  [payloadField.targetSummary, targetSummaryRows],
]);

/**
 * Row deltas of one scrubbed event. They are a function of the event alone, so that whoever projects it again, after
 * whatever crash, adds the same. False when the payload does not decode: then the event is stored raw and counted.
 */
export function deriveRows(event: BepEvent, rows: RowsBuilder, eventTimeMs: number | undefined): boolean {
  const unknown = unknownPart(event);
  if (unknown !== undefined) rows.countUnknown(unknown);
  return byPayload.get(event.payload)?.(event, rows, eventTimeMs) ?? true;
}
