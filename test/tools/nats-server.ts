import { processEnvironment } from "@millrace/base/config";
import { ensureNatsServer } from "../../scripts/bootstrap/nats-server.mjs";
import { findOnPath, toolsBinDir } from "../../scripts/bootstrap/paths.mjs";
import { systemPath, type Tool } from "./tool.ts";

/** The one that `npm start` uses. */
export async function findNatsServer(): Promise<Tool> {
  try {
    await ensureNatsServer();
  } catch (error) {
    return { kind: "missing", why: error instanceof Error ? error.message : String(error) };
  }
  const path = findOnPath("nats-server", [toolsBinDir, processEnvironment().PATH ?? systemPath].join(":"));
  return path === undefined
    ? { kind: "missing", why: "it was set up but cannot be found" }
    : { kind: "found", path, env: { PATH: systemPath } };
}
