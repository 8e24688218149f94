import type { InvocationSpec } from "./spec.ts";

/** Where the events of a command go. */
export type BepTarget =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "bes"; readonly backend: string }
  | { readonly kind: "none" };

/** Commands that build something and so have events. */
const buildLike = new Set(["build", "test", "coverage", "run", "mobile-install"]);
/** Commands that take the options of `build`. */
const takesBuildOptions = new Set([...buildLike, "cquery", "aquery", "info", "clean", "print_action"]);

/** Whether build events are asked for. */
export function hasEvents(command: string): boolean {
  return buildLike.has(command);
}

/**
 * The whole argument list: startup options, command, our flags, the caller's arguments, for `run` the target and its
 * program's arguments. Ours come first, so that nothing of the caller's can stand between them and the command.
 */
export function commandLine(spec: InvocationSpec, bep: BepTarget): string[] {
  const args = [...spec.startupArgs, spec.command, ...injected(spec, bep), ...spec.args];
  if (spec.command === "run") args.push(spec.target ?? "", "--", ...(spec.programArgs ?? []));
  return args;
}

function injected(spec: InvocationSpec, bep: BepTarget): string[] {
  const { command } = spec;
  const flags = ["--color=no", "--curses=no", "--noshow_progress"];
  if (command === "version" || command === "help") return flags;
  flags.push(`--invocation_id=${spec.id}`, `--tool_tag=millrace-mcp`);
  if (takesBuildOptions.has(command)) flags.push("--show_result=0");
  if (bep.kind === "file") flags.push(`--build_event_binary_file=${bep.path}`);
  if (bep.kind === "bes") {
    flags.push(`--bes_backend=${bep.backend}`, "--bes_upload_mode=wait_for_upload_complete");
  }
  if (command === "test" || command === "coverage") flags.push("--test_output=errors", "--test_summary=none");
  if (command === "run") flags.push("--nosubcommands");
  return flags;
}

/**
 * What the command finds in its environment. `bazel run` of a test goes through Bazel's test-setup.sh, which by default passes
 * the program's output through `tee` and then kills it, however much of the output it still holds: on a busy machine one run
 * in eight lost its last words. Told to write no test.xml itself, it lets the program write directly.
 */
export function environmentFor(
  command: string,
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return command === "run" ? { ...environment, EXPERIMENTAL_SPLIT_XML_GENERATION: "1" } : environment;
}
