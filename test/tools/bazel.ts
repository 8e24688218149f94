import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findOnPath } from "../../scripts/bootstrap/paths.mjs";
import { installDebianPackages } from "./debian-install.ts";
import { systemPath, type Tool } from "./tool.ts";
import { writeWrapper } from "./unpacked-wrapper.ts";

/**
 * Debian's Bazel 4.2.3. It does not know its own version ("no_version"), but no other Bazel is installed under
 * the name `bazel-4`.
 */
export async function findBazel(): Promise<Tool> {
  const present = findOnPath("bazel-4", systemPath);
  if (present !== undefined && findOnPath("java", systemPath) !== undefined) return inSystem(present);
  const installed = await installDebianPackages({
    name: "bazel",
    packages: ["bazel-bootstrap", "default-jre-headless"],
  });
  if (installed.kind === "failed") return { kind: "missing", why: installed.why };
  if (installed.kind === "unpacked") return unpacked(installed.root);
  const now = findOnPath("bazel-4", systemPath);
  return now === undefined ? { kind: "missing", why: "bazel-bootstrap holds no bazel-4" } : inSystem(now);
}

/** The script `bazel` beside it would look for other versions. */
function inSystem(path: string): Tool {
  return { kind: "found", path, env: { PATH: systemPath } };
}

/**
 * The program has `/usr/share/bazel` built in; a script beside it points it at the unpacked files, as
 * `/etc/bazel/bazelrc` does for an installed one.
 */
async function unpacked(root: string): Promise<Tool> {
  const program = join(root, "usr", "bin", "bazel-4");
  const java = await javaHome(root);
  if (java === undefined) return { kind: "missing", why: "no Java runtime was found or unpacked" };
  const rc = join(root, "millrace.bazelrc");
  await writeFile(rc, "build --host_javabase=@local_jdk//:jdk\nbuild --sandbox_debug\n");
  const wrapper = await writeWrapper({
    root,
    name: "millrace-bazel",
    program,
    args: [
      `--install_base=${join(root, "usr/share/bazel")}`,
      "--trust_install_base",
      "--nosystem_rc",
      `--bazelrc=${rc}`,
    ],
    environment: { JAVA_HOME: java },
  });
  return { kind: "found", path: wrapper, env: { PATH: `${join(java, "bin")}:${systemPath}` } };
}

async function javaHome(root: string): Promise<string | undefined> {
  const javaDir = join(root, "usr", "lib", "jvm");
  const unpackedHomes = await readdir(javaDir).catch((): string[] => []);
  for (const home of unpackedHomes) {
    if (findOnPath("java", join(javaDir, home, "bin")) !== undefined) return join(javaDir, home);
  }
  const installed = findOnPath("java", systemPath);
  return installed === undefined ? undefined : dirname(dirname(installed));
}
