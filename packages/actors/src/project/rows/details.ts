import { readEventId, readIdNumber } from "@millrace/proto/bep/event-id";
import type { BepEvent } from "@millrace/proto/bep/kind";
import { copyPayload } from "@millrace/proto/bep/payload";
import { readOptionsParsed } from "@millrace/proto/bep/readers/command-line";
import { readBuildToolLogs } from "@millrace/proto/bep/readers/files";
import { readMetricTotals } from "@millrace/proto/bep/readers/metric-totals";
import { readMetrics } from "@millrace/proto/bep/readers/metrics";
import { readFetch, readLocalExecRoot } from "@millrace/proto/bep/readers/surroundings";
import { readTestProgress } from "@millrace/proto/bep/readers/test-progress";
import type { IDetailsRow } from "@millrace/proto/pipeline";
import { FieldScanner, isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { isKey, present, presentText, storable, storableAll } from "./present.ts";

/** Of a payload that a row keeps as it was sent. More than this is in the raw event only. */
const keptBytesMax = 256 * 1024;

/** The options as Bazel understood them, from the command line and every rc file. */
export function optionsRows(event: BepEvent, rows: RowsBuilder): boolean {
  const options = readOptionsParsed(event);
  if (isMalformed(options)) return false;
  rows.patchDetails({
    startupOptions: storableAll(options.startupOptions),
    explicitStartupOptions: storableAll(options.explicitStartupOptions),
    options: storableAll(options.cmdLine),
    explicitOptions: storableAll(options.explicitCmdLine),
    ...presentText("toolTag", options.toolTag),
  });
  return true;
}

export function workspaceConfigRows(event: BepEvent, rows: RowsBuilder): boolean {
  const config = readLocalExecRoot(event);
  if (isMalformed(config)) return false;
  rows.patchDetails(presentText("localExecRoot", config.localExecRoot));
  return true;
}

type KeptField = "convenienceSymlinks" | "execRequest" | "toolLogs";

/** A payload that only a reader of this one build looks into is kept as it is. */
function keptRows(field: KeptField): (event: BepEvent, rows: RowsBuilder) => boolean {
  return (event, rows) => {
    const scanner = new FieldScanner().reset(event.bytes, event.payloadStart, event.payloadEnd);
    while (scanner.next());
    if (scanner.malformed) return false;
    rows.patchDetails(present(field, copyPayload(event, keptBytesMax)) as Pick<IDetailsRow, KeptField>);
    return true;
  };
}

export const convenienceSymlinksRows = keptRows("convenienceSymlinks");
export const execRequestRows = keptRows("execRequest");

/** Profile, execution log and what Bazel says of itself. */
export function toolLogsRows(event: BepEvent, rows: RowsBuilder): boolean {
  if (isMalformed(readBuildToolLogs(event))) return false;
  return keptRows("toolLogs")(event, rows);
}

/** All groups as they were sent; beside them, as numbers, what lists and trends are made of. */
export function metricsRows(event: BepEvent, rows: RowsBuilder): boolean {
  const metrics = readMetrics(event);
  const totals = readMetricTotals(event);
  if (isMalformed(metrics) || isMalformed(totals)) return false;
  const { actionsExecuted, wallTimeMs, cpuTimeMs } = metrics;
  rows.patchInvocation({ actionsExecuted, wallTimeMs, cpuTimeMs });
  const { analysisPhaseTimeMs, executionPhaseTimeMs, ...sameNames } = metrics;
  rows.patchMetrics({
    ...sameNames,
    analysisPhaseMs: analysisPhaseTimeMs,
    executionPhaseMs: executionPhaseTimeMs,
    ...totals,
    ...present("groups", copyPayload(event, keptBytesMax)),
  });
  return true;
}

// build_event_stream.BuildEventId.FetchId
const downloaderField = 2;

/** Something that was downloaded, or was not. */
export function fetchRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const downloader = readIdNumber(event, downloaderField);
  const fetch = readFetch(event);
  if (isMalformed(id) || isMalformed(downloader) || isMalformed(fetch)) return false;
  rows.addFetch({ url: storable(id.name), downloader: downloader.value, success: fetch.success });
  return true;
}

export function testProgressRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const progress = readTestProgress(event);
  if (isMalformed(id) || isMalformed(progress)) return false;
  if (!isKey(id.label, id.configuration)) return true;
  rows.addTestProgress({
    label: storable(id.label),
    configuration: storable(id.configuration),
    run: id.run,
    shard: id.shard,
    attempt: id.attempt,
    opaqueCount: progress.opaqueCount,
    uri: storable(progress.uri),
  });
  return true;
}
