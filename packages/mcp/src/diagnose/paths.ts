import type { Location } from "../store/record.ts";

/**
 * Makes paths short and stable: those below the workspace, the execution root or a sandbox become relative to the
 * workspace, in locations and in running text.
 */
export type PathShortener = (text: string) => string;

const sandbox = /\/[^\s'":]*?\/sandbox\/[\w-]+\/\d+\/execroot\/[^/\s'":]+\//g;
const execRoot = /\/[^\s'":]*?\/execroot\/[^/\s'":]+\//g;

export function createShortener(workspace: string): PathShortener {
  const prefix = workspace.endsWith("/") ? workspace : `${workspace}/`;
  return (text) => {
    if (!text.includes("/")) return text;
    const short = text.includes("execroot") ? text.replace(sandbox, "").replace(execRoot, "") : text;
    return workspace === "" ? short : short.replaceAll(prefix, "");
  };
}

export function shortenLocation(location: Location, shorten: PathShortener): Location {
  return { ...location, path: shorten(location.path) };
}
