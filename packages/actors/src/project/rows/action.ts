import { readEventId } from "@millrace/proto/bep/event-id";
import type { BepEvent } from "@millrace/proto/bep/kind";
import { readActionExecuted, readActionHead } from "@millrace/proto/bep/readers/action";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { numberOrNull, storable, storableAll, textOrNull } from "./present.ts";

/** Actions that a page names although they went well: what `bazel coverage` brings together. */
const namedActions: ReadonlySet<string> = new Set(["CoverageReport", "BaselineCoverage"]);

/** An action: counted by its mnemonic; one that failed has a row too. */
export function actionRows(event: BepEvent, rows: RowsBuilder): boolean {
  const action = readActionHead(event);
  if (isMalformed(action)) return false;
  const { success, startedAtMs, endedAtMs } = action;
  const durationMs =
    startedAtMs === undefined || endedAtMs === undefined ? 0 : Math.max(0, endedAtMs - startedAtMs);
  rows.countAction({ mnemonic: storable(action.type).slice(0, mnemonicCharsMax), success, durationMs });
  return (success && !namedActions.has(action.type)) || wholeRow(event, rows);
}

/** The mnemonic is part of a key. */
const mnemonicCharsMax = 200;

function wholeRow(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const action = readActionExecuted(event);
  if (isMalformed(id) || isMalformed(action)) return false;
  rows.addAction({
    success: action.success,
    label: textOrNull(action.label),
    configuration: textOrNull(action.configuration),
    mnemonic: textOrNull(action.type),
    primaryOutput: textOrNull(action.primaryOutput),
    exitCode: action.exitCode,
    failureMessage: textOrNull(action.failure.message),
    failureCategory: numberOrNull(action.failure.category),
    failureCode: numberOrNull(action.failure.code),
    startedAtMs: action.startedAtMs ?? null,
    endedAtMs: action.endedAtMs ?? null,
    stdoutUri: textOrNull(action.stdout?.uri ?? ""),
    stderrUri: textOrNull(action.stderr?.uri ?? ""),
    commandLine: storableAll(action.commandLine),
  });
  return true;
}
