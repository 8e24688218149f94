import type { RunSettings } from "./config.ts";
import { checkCommand, checkFlags, checkRunFields, checkShape, refuse } from "./policy.ts";
import type { InvocationSpec, RunRequest } from "./spec.ts";
import { checkWorkspace } from "./workspace.ts";

/** Checks a request in the order of mcp.md A2.1 and returns what will run. Nothing durable has happened when it throws. */
export function admit(request: RunRequest, at: { settings: RunSettings; id: string }): InvocationSpec {
  const { settings } = at;
  const startupArgs = request.startup_args ?? [];
  const args = request.args ?? [];
  const programArgs = request.program_args;
  checkCommand(request.command, settings.policy);
  checkShape({ startup_args: startupArgs, args, program_args: programArgs ?? [] });
  checkFlags({ command: request.command, args, startupArgs, transport: settings.bepTransport });
  checkRunFields({ command: request.command, target: request.target, programArgs, args });
  return {
    id: at.id,
    workspace: checkWorkspace(request.workspace, settings.allowedRoots),
    startupArgs: [...isolation(settings), ...startupArgs],
    command: request.command,
    args,
    ...(request.target === undefined ? {} : { target: request.target }),
    ...(programArgs === undefined ? {} : { programArgs }),
    timeoutMs: timeoutOf(request, settings) * 1000,
  };
}

function isolation(settings: RunSettings): string[] {
  if (settings.outputUserRoot === undefined) return [];
  return [
    `--output_user_root=${settings.outputUserRoot}`,
    `--max_idle_secs=${settings.isolatedServerIdleSeconds}`,
  ];
}

function timeoutOf(request: RunRequest, settings: RunSettings): number {
  const seconds = request.timeout_seconds ?? settings.defaultTimeoutSeconds;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > settings.maximumTimeoutSeconds) {
    throw refuse(
      "timeout",
      `timeout_seconds must be between 1 and ${settings.maximumTimeoutSeconds}, not ${seconds}`,
    );
  }
  return seconds;
}
