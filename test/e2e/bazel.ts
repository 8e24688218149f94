import { type ChildProcess, execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { splitDelimited } from "../model/frames.ts";

/** What one `bazel` command did. */
export interface BazelRun {
  readonly exitCode: number;
  readonly output: string;
}

/** A command whose events were uploaded and written to a file as well. */
export interface BazelUpload extends BazelRun {
  readonly invocationId: string;
  /** BEP payloads of `--build_event_binary_file`. */
  readonly events: readonly Buffer[];
}

/** A copy of the workspace with its own output root, for one test file. */
export interface BazelWorkspace {
  /** Runs one command; the server it starts stays warm for the next. */
  run(args: readonly string[], onStart?: (client: ChildProcess) => void): Promise<BazelRun>;
  /** Runs one command with its events sent to `port` on this machine. */
  upload(options: {
    readonly port: number;
    readonly command: string;
    readonly args: readonly string[];
    readonly onStart?: (client: ChildProcess) => void;
  }): Promise<BazelUpload>;
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
  const run = (args: readonly string[], onStart?: (client: ChildProcess) => void): Promise<BazelRun> =>
    new Promise((resolve) => {
      const client = execFile(
        bazel.path,
        [...startup, ...args],
        { cwd: workspace, env, maxBuffer: 64 << 20, timeout: 240_000 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
          resolve({ exitCode: code, output: `${stdout}\n${stderr}` });
        },
      );
      onStart?.(client);
    });
  return {
    run,
    upload: async ({ port, command, args, onStart }) => {
      const invocationId = randomUUID();
      const file = path.join(home, `${invocationId}.bep`);
      const flags = [
        `--invocation_id=${invocationId}`,
        `--bes_backend=grpc://127.0.0.1:${port}`,
        `--build_event_binary_file=${file}`,
      ];
      const done = await run([command, ...flags, ...args], onStart);
      const events = splitDelimited(await readFile(file).catch(() => Buffer.alloc(0)));
      return { ...done, invocationId, events };
    },
    close: async () => {
      await run(["shutdown"]);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
