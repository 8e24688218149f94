import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";

/** OptionsParsed: the options of the command, from all sources and as typed. May hold secrets: scrub first. */
export interface OptionsParsed {
  readonly startupOptions: readonly string[];
  readonly explicitStartupOptions: readonly string[];
  readonly cmdLine: readonly string[];
  readonly explicitCmdLine: readonly string[];
  readonly toolTag: string;
}

/** Reads a payload of kind `optionsParsed`. */
export function readOptionsParsed(event: BepEvent): OptionsParsed | Malformed {
  const startupOptions: string[] = [];
  const explicitStartupOptions: string[] = [];
  const cmdLine: string[] = [];
  const explicitCmdLine: string[] = [];
  let toolTag = "";
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) startupOptions.push(scanner.text);
    else if (scanner.isBytes(2)) explicitStartupOptions.push(scanner.text);
    else if (scanner.isBytes(3)) cmdLine.push(scanner.text);
    else if (scanner.isBytes(4)) explicitCmdLine.push(scanner.text);
    else if (scanner.isBytes(6)) toolTag = scanner.text;
  }
  return scanner.malformed ?? { startupOptions, explicitStartupOptions, cmdLine, explicitCmdLine, toolTag };
}

/** Reads the arguments of a payload of kind `unstructuredCommandLine`. They hold every --client_env of the caller. */
export function readUnstructuredCommandLine(event: BepEvent): readonly string[] | Malformed {
  const args: string[] = [];
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) args.push(scanner.text);
  return scanner.malformed ?? args;
}
