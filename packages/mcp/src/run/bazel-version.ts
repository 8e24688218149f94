import { execFile } from "node:child_process";
import type { RunSettings } from "./config.ts";
import { refuse } from "./policy.ts";

/**
 * Asks each Bazel once per workspace for its version, without starting its server. Distribution builds do not know
 * theirs (`bazel no_version`); those are let through.
 */
export class BazelVersions {
  private readonly known = new Map<string, Promise<string>>();

  async check(at: { executable: string; workspace: string; settings: RunSettings }): Promise<void> {
    const { settings } = at;
    if (settings.allowUnsupported) return;
    const key = `${at.executable}\u0000${at.workspace}`;
    const asked = this.known.get(key) ?? ask(at);
    this.known.set(key, asked);
    const version = await asked;
    const major = /(\d+)\.\d+/.exec(version)?.[1];
    if (major === undefined || settings.supportedMajors.includes(Number(major))) return;
    throw refuse(
      "bazel-version",
      `${at.executable} is ${version}; supported are majors ${settings.supportedMajors.join(", ")}. Set allow_unsupported_bazel_versions to try it`,
    );
  }
}

function ask(at: { executable: string; workspace: string; settings: RunSettings }): Promise<string> {
  const { environment, versionCheckTimeoutMs } = at.settings;
  const options = { cwd: at.workspace, env: { ...environment }, timeout: versionCheckTimeoutMs };
  return new Promise((resolve, reject) => {
    execFile(at.executable, ["--version"], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim());
      else if (error.killed === true) {
        reject(
          refuse(
            "bazel-slow",
            `${at.executable} --version did not answer within ${versionCheckTimeoutMs} ms`,
          ),
        );
      } else {
        const said = stderr.trim().split("\n").slice(-3).join(" ");
        reject(
          refuse("bazel-broken", `${at.executable} --version failed: ${said === "" ? error.message : said}`),
        );
      }
    });
  });
}
