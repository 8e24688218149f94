import { join } from "node:path";
import { processEnvironment } from "@millrace/base/config";
import { withLock } from "../scripts/bootstrap/lock.mjs";
import { stateDir } from "../scripts/bootstrap/paths.mjs";
import { findBazel } from "./tools/bazel.ts";
import { findChromium } from "./tools/chromium.ts";
import { findNatsServer } from "./tools/nats-server.ts";
import { findSwift } from "./tools/swift.ts";
import type { Tool } from "./tools/tool.ts";

/** Programs from outside that tests need. A new one is a file in `tools/` and a line here. */
const finders = {
  bazel: findBazel,
  chromium: findChromium,
  "nats-server": findNatsServer,
  swift: findSwift,
} as const satisfies Readonly<Record<string, () => Promise<Tool>>>;

export type ToolName = keyof typeof finders;

const cache = new Map<ToolName, Promise<Tool>>();

/**
 * Finds an outside program, or installs it: the one on the PATH; as root the Debian packages installed by
 * apt-get; else the same packages unpacked into the checkout. Any number of test files may ask at once.
 *
 * A test without its tool is skipped by name, as in
 * `describe.skipIf(bazel.kind === "missing")("real Bazel", …)`. In CI nothing may be missing: there this throws.
 */
export async function tool(name: ToolName): Promise<Tool> {
  let found = cache.get(name);
  if (found === undefined) {
    found = withLock(join(stateDir, "tools.lock"), finders[name]);
    cache.set(name, found);
  }
  const result = await found;
  if (result.kind === "missing" && processEnvironment().CI === "true") {
    throw new Error(
      `${name} could neither be found nor installed, and in CI no test is skipped: ${result.why}`,
    );
  }
  return result;
}
