import type { FileBytes, NamedSetGraph } from "@millrace/proto/bep/named-set-graph";
import { build_event_stream } from "@millrace/proto/gen/bep";

/** A file that a target made, as Bazel named it. */
export interface OutputFile {
  readonly group: string;
  /** Below the output tree: path prefix and name. */
  readonly path: string;
  /** `bytestream://`, `file://` or another; null for inline content and symbolic links. */
  readonly uri: string | null;
  readonly bytes: number | null;
  readonly digest: string | null;
  readonly symlinkTarget: string | null;
}

/** The group of files that no group of a rule holds. */
export const defaultGroup = "default";
const directories = "directories";

/**
 * The files of a target, group after group in the order in which Bazel told of them. Named sets are read when their
 * turn comes: who stops early reads little.
 *
 * @param outputs as `copyTargetOutputs` took them from the target's event
 */
export async function* targetOutputs(outputs: Uint8Array, sets: NamedSetGraph): AsyncGenerator<OutputFile> {
  const target = build_event_stream.TargetComplete.decode(outputs);
  for (const group of target.outputGroup ?? []) {
    const name = group.name || defaultGroup;
    for (const file of group.inlineFiles ?? []) yield outputFile(name, file);
    const ids = (group.fileSets ?? []).map(({ id }) => id ?? "");
    for await (const bytes of sets.files(ids)) yield outputFile(name, decode(bytes));
  }
  for (const file of target.importantOutput ?? []) yield outputFile(defaultGroup, file);
  for (const file of target.directoryOutput ?? []) yield outputFile(directories, file);
}

function decode(bytes: FileBytes): build_event_stream.File.$Properties {
  return build_event_stream.File.decode(bytes);
}

function outputFile(group: string, file: build_event_stream.File.$Properties): OutputFile {
  const { pathPrefix, name, uri, digest, length, symlinkTargetPath } = file;
  return {
    group,
    path: [...(pathPrefix ?? []), name ?? ""].join("/"),
    uri: uri || null,
    bytes: typeof length === "number" && length >= 0 ? length : null,
    digest: digest || null,
    symlinkTarget: symlinkTargetPath || null,
  };
}
