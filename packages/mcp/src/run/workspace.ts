import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isBelow } from "../evidence/local-file.ts";
import { refuse } from "./policy.ts";

const markers = ["MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE"];

/** The real path of a workspace that may be used. Links are followed before the roots are compared. */
export function checkWorkspace(workspace: string, allowedRoots: readonly string[]): string {
  if (!path.isAbsolute(workspace)) {
    throw refuse(
      "workspace-relative",
      `workspace must be an absolute path, not ${JSON.stringify(workspace)}`,
    );
  }
  let real: string;
  try {
    real = realpathSync(workspace);
  } catch {
    throw refuse("workspace-missing", `workspace ${workspace} does not exist or cannot be read`);
  }
  if (!statSync(real).isDirectory())
    throw refuse("workspace-file", `workspace ${workspace} is not a directory`);
  if (allowedRoots.length > 0 && !allowedRoots.some((root) => real === root || isBelow(real, root))) {
    throw refuse(
      "workspace-outside",
      `workspace ${workspace} (${real}) lies outside the allowed roots ${allowedRoots.join(", ")}`,
    );
  }
  if (!markers.some((marker) => existsSync(path.join(real, marker)))) {
    throw refuse(
      "workspace-unmarked",
      `${real} holds none of ${markers.join(", ")}: give the root of the Bazel workspace`,
    );
  }
  return real;
}

/** Real paths of the roots; one that does not exist is a mistake in the configuration. */
export function realRoots(roots: readonly string[]): string[] {
  return roots.map((root) => {
    try {
      return realpathSync(root);
    } catch {
      throw refuse("root-missing", `allowed root ${root} does not exist`);
    }
  });
}

/** The Bazel to run: as configured, else the workspace's own wrapper, bazelisk, bazel. */
export function findBazel(at: {
  workspace: string;
  configured: string | undefined;
  searchPath: string;
}): string {
  if (at.configured !== undefined) return at.configured;
  const wrapper = path.join(at.workspace, "tools", "bazel");
  if (isExecutable(wrapper)) return wrapper;
  for (const name of ["bazelisk", "bazel"]) {
    for (const directory of at.searchPath.split(path.delimiter)) {
      const candidate = path.join(directory, name);
      if (directory !== "" && isExecutable(candidate) && !isShim(candidate)) return candidate;
    }
  }
  throw refuse(
    "bazel-missing",
    "neither tools/bazel in the workspace nor bazelisk or bazel on PATH: install one or set bazel_executable",
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Our own agent mode under the name of bazel would call itself for ever. */
function isShim(file: string): boolean {
  const real = realpathSync(file);
  return /millrace/.test(path.basename(real));
}

/**
 * What decides the output base, as far as it can be known without asking Bazel (which takes a second and starts a server):
 * the startup options here and in the workspace's .bazelrc. Two requests with the same key wait for each other here;
 * should two keys mean one output base all the same, Bazel's own lock makes them wait, and that is seen.
 */
export function outputBaseKey(at: {
  workspace: string;
  startupArgs: readonly string[];
  userRoot: string | undefined;
}): string {
  const option = (name: string): string | undefined =>
    lastValue([...bazelrcStartup(at.workspace), ...at.startupArgs], name);
  const base = option("output_base");
  if (base !== undefined) return path.resolve(at.workspace, base);
  return `${option("output_user_root") ?? at.userRoot ?? ""}\u0000${at.workspace}`;
}

function lastValue(args: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  args.forEach((argument, index) => {
    if (argument.startsWith(`--${name}=`)) value = argument.slice(name.length + 3);
    else if (argument === `--${name}`) value = args[index + 1];
  });
  return value;
}

function bazelrcStartup(workspace: string): string[] {
  try {
    return readFileSync(path.join(workspace, ".bazelrc"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("startup "))
      .flatMap((line) => line.trim().split(/\s+/).slice(1));
  } catch {
    return []; // Most workspaces have one; none is as good.
  }
}
