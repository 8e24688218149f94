import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { judge } from "../queue/verdict.ts";
import type { SourceControl } from "../source-control.ts";
import { gitSourceKind } from "./git.ts";

let directory: string;
let repository: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "millrace-git-"));
  repository = path.join(directory, "repository");
  execFileSync("git", ["init", "--quiet", "--initial-branch", "main", repository]);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const never = new AbortController().signal;
const unknown = "0123456789abcdef0123456789abcdef01234567";

function git(...args: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
  return execFileSync("git", ["-C", repository, ...identity, ...args], { encoding: "utf8" }).trim();
}

function commit(message: string): string {
  git("commit", "--quiet", "--allow-empty", "-m", message);
  return git("rev-parse", "HEAD");
}

function source(change: Record<string, unknown> = {}): SourceControl {
  const config = {
    kind: "git",
    repository,
    branch: "main",
    mirror: path.join(directory, "mirror"),
    ...change,
  };
  const world = { clock: systemClock, random: systemRandom, log: silentLog, secret: () => undefined };
  return gitSourceKind.create(gitSourceKind.config.parse(config), world);
}

test("the head is the branch's newest commit; a branch that is not there has none", async () => {
  const first = commit("a");
  expect(await source().head(never)).toBe(first);
  const second = commit("b");
  expect(await source().head(never)).toBe(second);
  expect(await source({ branch: "elsewhere" }).head(never)).toBeUndefined();
});

test("ancestry is asked of a copy that follows the repository, and is not known for what is gone", async () => {
  const [a, b] = [commit("a"), commit("b")];
  const of = source();
  expect(await of.isAncestor({ base: a, head: b }, never)).toBe(true);
  expect(await of.isAncestor({ base: b, head: a }, never)).toBe(false);
  const c = commit("c");
  expect(await of.isAncestor({ base: a, head: c }, never)).toBe(true);
  expect(await of.isAncestor({ base: unknown, head: c }, never)).toBeUndefined();
  expect(await of.isAncestor({ base: "main", head: c }, never)).toBeUndefined();
});

test("a green commit moves the branch that it is promoted to, again and backwards too", async () => {
  const [a, b] = [commit("a"), commit("b")];
  const of = source({ promote_to: "last-green" });
  for (const uri of [b, b, a]) {
    expect(await of.promote(uri, never)).toBe("promoted");
    expect(git("rev-parse", "last-green")).toBe(uri);
  }
  expect(await of.promote(unknown, never)).toBe("not_found");
});

test("a repository that is not there is a failure that may pass, told without its password", async () => {
  const gone = source({ repository: "http://user:geheim@127.0.0.1:1/x" });
  const failure = await gone.head(never).catch((error: unknown) => error);
  expect(judge(failure)).toBe("infra-retryable");
  expect(String(failure)).not.toContain("geheim");
});

test("whoever gives up ends git", async () => {
  commit("a");
  expect(
    judge(
      await source()
        .head(AbortSignal.abort())
        .catch((error: unknown) => error),
    ),
  ).toBe("infra-retryable");
});

test.each([
  { branch: "--upload-pack=x" },
  { repository: "--upload-pack=x" },
  { mirror: "-x" },
  { branch: "" },
])("a configuration that git would take for a flag is refused: %o", (change) => {
  expect(() => source(change)).toThrow();
});
