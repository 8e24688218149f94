import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** What one `bazel` command did. */
export interface BazelRun {
  readonly exitCode: number;
  readonly output: string;
}

/** A copy of the workspace with its own output root, for one test file. */
export interface BazelWorkspace {
  /** Runs one command; the server it starts stays warm for the next. */
  run(args: readonly string[]): Promise<BazelRun>;
  /** The frames of a `--build_event_binary_file` in the workspace's scratch directory. */
  readScratch(name: string): Promise<Buffer>;
  scratch(name: string): string;
  close(): Promise<void>;
}

/** @param bazel path of the Bazel binary, as `test/tools.ts` found it */
export async function openBazelWorkspace(bazel: {
  path: string;
  env?: Readonly<Record<string, string>>;
}): Promise<BazelWorkspace> {
  const home = await mkdtemp(path.join(tmpdir(), "millrace-bazel-"));
  const workspace = path.join(home, "workspace");
  await cp(path.join(import.meta.dirname, "workspace"), workspace, { recursive: true });
  const startup = [`--output_user_root=${path.join(home, "root")}`, "--max_idle_secs=60"];
  const env = { PATH: "/usr/bin:/bin", HOME: home, ...bazel.env };
  const run = (args: readonly string[]): Promise<BazelRun> =>
    new Promise((resolve) => {
      execFile(
        bazel.path,
        [...startup, ...args],
        { cwd: workspace, env, maxBuffer: 64 << 20, timeout: 240_000 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
          resolve({ exitCode: code, output: `${stdout}\n${stderr}` });
        },
      );
    });
  return {
    run,
    scratch: (name) => path.join(home, name),
    readScratch: (name) => readFile(path.join(home, name)),
    close: async () => {
      await run(["shutdown"]);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
