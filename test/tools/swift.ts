import { join } from "node:path";
import { findOnPath } from "../../scripts/bootstrap/paths.mjs";
import { installDebianPackages } from "./debian-install.ts";
import { systemPath, type Tool } from "./tool.ts";

const packages = ["swift-proxy", "swift-account", "swift-container", "swift-object"];

/**
 * OpenStack Swift, whose `s3api` is an S3 service that needs no download from outside Debian. The path is that of the
 * proxy; the other servers lie beside it.
 */
export async function findSwift(): Promise<Tool> {
  const present = inSystem();
  if (present !== undefined) return present;
  const installed = await installDebianPackages({ name: "swift", packages });
  if (installed.kind === "failed") return { kind: "missing", why: installed.why };
  if (installed.kind === "unpacked") return unpacked(installed.root);
  return inSystem() ?? { kind: "missing", why: "swift-proxy holds no swift-proxy-server" };
}

function inSystem(): Tool | undefined {
  const servers = ["swift-object-server", "swift-container-server", "swift-account-server"];
  if (servers.some((name) => findOnPath(name, systemPath) === undefined)) return undefined;
  const path = findOnPath("swift-proxy-server", systemPath);
  return path === undefined ? undefined : { kind: "found", path, env: { PATH: systemPath } };
}

function unpacked(root: string): Tool {
  const python = join(root, "usr/lib/python3/dist-packages");
  return {
    kind: "found",
    path: join(root, "usr/bin/swift-proxy-server"),
    env: { PATH: systemPath, PYTHONPATH: python },
  };
}
