import { hasDebianPackages, unpackDebianPackages } from "../../scripts/bootstrap/debian.mjs";
import { run, tellingLine } from "../../scripts/bootstrap/run.mjs";

export type Installed =
  /** In the system itself, or unpacked under `root` with all it depends on. */
  { readonly kind: "system" } | { readonly kind: "unpacked"; readonly root: string } | Failed;

interface Failed {
  readonly kind: "failed";
  readonly why: string;
}

const installMaxMs = 15 * 60_000;

/**
 * Makes Debian packages usable: as root by apt-get into the system, else unpacked into the checkout. `name` is
 * the directory of the latter.
 */
export async function installDebianPackages(wanted: {
  readonly name: string;
  readonly packages: readonly string[];
}): Promise<Installed> {
  if (!hasDebianPackages()) return { kind: "failed", why: "this system has no Debian packages" };
  if (process.getuid?.() !== 0) return unpackDebianPackages({ ...wanted, withDependencies: true });
  const install = [
    "-y",
    "--no-install-recommends",
    "-o",
    "DPkg::Lock::Timeout=300",
    "install",
    ...wanted.packages,
  ];
  const first = await aptGet(install);
  if (first === undefined) return { kind: "system" };
  // The package lists may be missing or old; an update that fails for one source still helps the others.
  await aptGet(["update"]);
  const second = await aptGet(install);
  return second === undefined ? { kind: "system" } : { kind: "failed", why: second };
}

/** Why it failed, or undefined. */
async function aptGet(args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { code, output } = await run("apt-get", args, { env, timeoutMs: installMaxMs });
  return code === 0 ? undefined : tellingLine(output);
}
