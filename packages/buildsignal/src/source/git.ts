import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { errorText, MillraceError } from "@millrace/base/errors";
import { z } from "zod";
import type { SourceKind } from "../queue-directory.ts";
import type { SourceControl } from "../source-control.ts";

const reference = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$/, "a branch");

const gitConfig = z.strictObject({
  kind: z.literal("git"),
  /** A URL or a path, as `git fetch` takes it. Credentials are git's own affair (a helper, an SSH key). */
  repository: z.string().min(1).regex(/^[^-]/, "a URL or a path"),
  branch: reference,
  /** A directory for a bare copy, which is made and kept up to date; one for each repository. */
  mirror: z.string().min(1).regex(/^[^-]/, "a directory"),
  /** A branch of the repository that is moved to each newest green commit. */
  promote_to: reference.optional(),
  timeout_ms: z.number().int().min(1_000).default(120_000),
});
type GitConfig = z.infer<typeof gitConfig>;

/** Commits are named by their full hash. */
const commitName = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const outputBytesMax = 1024 * 1024;

/** A branch of a git repository, asked by the `git` on the PATH. Failures of git may pass: the network is between. */
export const gitSourceKind: SourceKind<GitConfig> = {
  kind: "git",
  config: gitConfig,
  create: (config) => gitSource(config),
};

function gitSource(config: GitConfig): SourceControl {
  const { repository, branch, mirror, promote_to: target } = config;
  let turn: Promise<unknown> = Promise.resolve();
  /** One command at a time in the copy: two fetches would be in each other's way. */
  const inMirror = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };
  const git = (args: readonly string[], signal: AbortSignal): Promise<Answer> =>
    runGit(args, { signal, timeoutMs: config.timeout_ms });
  const ofMirror = (args: readonly string[], signal: AbortSignal) =>
    git(["--git-dir", mirror, ...args], signal);

  const has = async (commit: string, signal: AbortSignal): Promise<boolean> =>
    commitName.test(commit) &&
    (await ofMirror(["cat-file", "-e", `${commit}^{commit}`], signal)).exitCode === 0;

  /** Whether all of the commits are there, after at most one fetch. */
  const haveAll = async (commits: readonly string[], signal: AbortSignal): Promise<boolean> => {
    await mkdir(mirror, { recursive: true });
    succeeded(await git(["init", "--quiet", "--bare", mirror], signal), "init");
    const allThere = async (): Promise<boolean> =>
      (await Promise.all(commits.map((one) => has(one, signal)))).every(Boolean);
    if (await allThere()) return true;
    const refspec = `+refs/heads/${branch}:refs/heads/${branch}`;
    succeeded(await ofMirror(["fetch", "--quiet", "--no-tags", repository, refspec], signal), "fetch");
    return await allThere();
  };

  return {
    head: async (signal) => {
      const { stdout } = succeeded(
        await git(["ls-remote", "--", repository, `refs/heads/${branch}`], signal),
        "ls-remote",
      );
      return /^[0-9a-f]+/.exec(stdout)?.[0];
    },
    isAncestor: ({ base, head }, signal) =>
      inMirror(async () => {
        if (!(await haveAll([base, head], signal))) return undefined;
        const answer = await ofMirror(["merge-base", "--is-ancestor", base, head], signal);
        if (answer.exitCode === 0 || answer.exitCode === 1) return answer.exitCode === 0;
        throw failed(answer, "merge-base");
      }),
    promote: (uri, signal) =>
      inMirror(async () => {
        if (target === undefined) return "promoted";
        if (!(await haveAll([uri], signal))) return "not_found";
        const push = ["push", "--quiet", "--force", repository, `${uri}:refs/heads/${target}`];
        succeeded(await ofMirror(push, signal), "push");
        return "promoted";
      }),
  };
}

interface Answer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runGit(
  args: readonly string[],
  limits: { signal: AbortSignal; timeoutMs: number },
): Promise<Answer> {
  // Nobody is there to be asked for a password.
  const quiet = ["-c", "core.askPass=true", "-c", "credential.interactive=false"];
  const options = { signal: limits.signal, timeout: limits.timeoutMs, maxBuffer: outputBytesMax };
  return new Promise((resolve, reject) => {
    execFile("git", [...quiet, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ exitCode: 0, stdout, stderr });
      else if (typeof error.code === "number") resolve({ exitCode: error.code, stdout, stderr });
      else if (error.name === "AbortError") reject(error);
      else reject(away(error.killed ? "git took too long" : `git cannot be run: ${errorText(error)}`, error));
    });
  });
}

function succeeded(answer: Answer, what: string): Answer {
  if (answer.exitCode !== 0) throw failed(answer, what);
  return answer;
}

function failed(answer: Answer, what: string): MillraceError {
  // A URL may hold a password, and git repeats it.
  const said = answer.stderr
    .trim()
    .replace(/\/\/[^/\s@]*@/g, "//***@")
    .slice(-300);
  return away(`git ${what} ended with ${answer.exitCode}: ${said}`);
}

function away(message: string, cause?: unknown): MillraceError {
  return new MillraceError({ remedy: "retry", code: "git-failed", message, cause });
}
