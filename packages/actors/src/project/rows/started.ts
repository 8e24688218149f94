import type { BepEvent } from "@millrace/proto/bep/kind";
import { readStarted } from "@millrace/proto/bep/readers/started";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { present, presentText } from "./present.ts";

/** The command and where it runs. */
export function startedRows(event: BepEvent, rows: RowsBuilder): boolean {
  const started = readStarted(event);
  if (isMalformed(started)) return false;
  rows.patchInvocation({
    ...presentText("command", started.command),
    ...presentText("toolVersion", started.toolVersion),
    ...presentText("workspaceDirectory", started.workspaceDirectory),
    ...presentText("workingDirectory", started.workingDirectory),
    ...presentText("user", started.user),
    ...presentText("host", started.host),
    ...present("startedAtMs", started.startedAtMs),
  });
  if (started.serverPid !== 0) rows.patchDetails({ serverPid: started.serverPid });
  return true;
}
