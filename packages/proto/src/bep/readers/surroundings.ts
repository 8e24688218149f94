import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { readMapEntry, scanPayload } from "../payload.ts";

/** One line of the workspace status command's output. */
export interface StatusItem {
  readonly key: string;
  readonly value: string;
}

/** Reads the items of a payload of kind `workspaceStatus`, in their order; a key may occur twice. */
export function readWorkspaceStatus(event: BepEvent): readonly StatusItem[] | Malformed {
  const items: StatusItem[] = [];
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (!scanner.isBytes(1)) continue;
    let key = "";
    let value = "";
    const inner = scanner.child();
    while (inner.next()) {
      if (inner.isBytes(1)) key = inner.text;
      else if (inner.isBytes(2)) value = inner.text;
    }
    items.push({ key, value });
  }
  return scanner.malformed ?? items;
}

/** Reads a payload of kind `buildMetadata`: the values of --build_metadata. */
export function readBuildMetadata(event: BepEvent): ReadonlyMap<string, string> | Malformed {
  const metadata = new Map<string, string>();
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) readMapEntry(scanner, metadata);
  return scanner.malformed ?? metadata;
}

/** Configuration. Its id is the `name` of the event's id. */
export interface Configuration {
  readonly mnemonic: string;
  readonly platformName: string;
  readonly cpu: string;
  readonly isTool: boolean;
  readonly makeVariables: ReadonlyMap<string, string>;
}

/** Reads a payload of kind `configuration`. */
export function readConfiguration(event: BepEvent): Configuration | Malformed {
  let mnemonic = "";
  let platformName = "";
  let cpu = "";
  let isTool = false;
  const makeVariables = new Map<string, string>();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) mnemonic = scanner.text;
    else if (scanner.isBytes(2)) platformName = scanner.text;
    else if (scanner.isBytes(3)) cpu = scanner.text;
    else if (scanner.isBytes(4)) readMapEntry(scanner, makeVariables);
    else if (scanner.isVarint(5)) isTool = scanner.bool;
  }
  return scanner.malformed ?? { mnemonic, platformName, cpu, isTool, makeVariables };
}

/** Reads a payload of kind `workspaceInfo`: the directory that actions run in. */
export function readLocalExecRoot(event: BepEvent): { readonly localExecRoot: string } | Malformed {
  let localExecRoot = "";
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) localExecRoot = scanner.text;
  return scanner.malformed ?? { localExecRoot };
}

/** Reads a payload of kind `fetch`; the URL is the `name` of the event's id. */
export function readFetch(event: BepEvent): { readonly success: boolean } | Malformed {
  let success = false;
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isVarint(1)) success = scanner.bool;
  return scanner.malformed ?? { success };
}
