import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  BuildServer,
  commit,
  neverAborted,
  request,
  runnerWorld,
  startMs,
  WatchedClock,
} from "./build-server.fixture.ts";
import { invocationIdOf, millraceRunnerKind } from "./millrace.ts";

let server: BuildServer;
let clock: WatchedClock;
beforeEach(async () => {
  server = await BuildServer.start();
  server.on({ method: "POST", path: /.*/ }, { status: 204 });
  clock = new WatchedClock(startMs);
});
afterEach(() => server.close());

const invocationId = invocationIdOf(request);
/** Tells the test's server where it got to, and whatever comes with it. */
const tell = `const tell = (where, what) => fetch(process.env.TELL + "/" + where, { method: "POST", body: JSON.stringify(what) });`;
const tellArguments = `${tell} tell("began", { args: process.argv.slice(1), cwd: process.cwd(), env: process.env });`;
const waitForInterrupt = `${tell}
process.once("SIGINT", () => tell("interrupted").then(() => process.exit(8)));
setInterval(() => {}, 1_000);
tell("began");`;

function runner(script: string, more: Readonly<Record<string, unknown>> = {}) {
  const argv = [process.execPath, "-e", script, "--", "--commit={head_commit}", "{invocation_id}"];
  const environment = { TELL: server.url, COMMIT: "{head_commit}" };
  const start = { kind: "command", argv, directory: "/", environment, ...more };
  const config = millraceRunnerKind.config.parse({ kind: "millrace", server: server.url, start });
  return millraceRunnerKind.create(config, runnerWorld(clock));
}
const told = (where: string) => server.of("POST").filter((seen) => seen.path === `/${where}`);

/** Resolves when the command has got there. */
async function toldOf(where: string): Promise<void> {
  for (let count = server.seen.length; told(where).length === 0; count = server.seen.length) {
    await server.sawRequests(count + 1);
  }
}

describe("a command that runs Bazel", () => {
  test("gets what is to be built, without a shell and without the controller's environment", async () => {
    const { buildId } = await runner(tellArguments).trigger(request, neverAborted);
    expect(buildId).toBe(`millrace/default/${invocationId}`);
    await toldOf("began");
    const { args, cwd, env } = JSON.parse(told("began")[0]?.body ?? "");
    expect(args).toEqual([`--commit=${commit}`, invocationId]);
    expect(cwd).toBe("/");
    expect(
      Object.keys(env)
        .filter((name) => !name.startsWith("__"))
        .sort(),
    ).toEqual(["COMMIT", "HOME", "PATH", "TELL"]);
  });

  test("is interrupted by cancel, and then has ended without a stream", async () => {
    const running = runner(waitForInterrupt);
    const { buildId } = await running.trigger(request, neverAborted);
    await toldOf("began");
    expect(await running.status(buildId, neverAborted)).toMatchObject({ status: "accepted" });
    await running.cancel(buildId, neverAborted);
    await toldOf("interrupted");
    let observation = await running.status(buildId, neverAborted);
    while (observation.status === "accepted") {
      await clock.advance(60_000);
      observation = await running.status(buildId, neverAborted);
    }
    expect(observation).toMatchObject({
      status: "failed",
      providerState: "exit_code_8",
      noVerdict: "never_streamed",
    });
    await running.cancel(buildId, neverAborted);
  });

  test("is started once while it runs", async () => {
    const running = runner(waitForInterrupt);
    const build = await running.trigger(request, neverAborted);
    expect(await running.trigger(request, neverAborted)).toEqual(build);
    await toldOf("began");
    await running.cancel(build.buildId, neverAborted);
    await toldOf("interrupted");
    expect(told("began")).toHaveLength(1);
  });

  test.each([
    ["a program that is not there", { argv: ["/no/such/program"] }, "ENOENT"],
    ["a directory that is not there", { directory: "/no/such/directory" }, "ENOENT"],
    ["a commit that looks like an option", { argv: ["true", "{metadata.option}"] }, "taken for an option"],
  ])("that names %s is a refusal", async (_, more, message) => {
    const asked = runner(tellArguments, more).trigger(
      { ...request, metadata: { option: "--run" } },
      neverAborted,
    );
    await expect(asked).rejects.toMatchObject({ kind: "invalid", message: expect.stringContaining(message) });
  });

  test("has a directory that is named in full", () => {
    expect(() => runner(tellArguments, { directory: "here" })).toThrow();
  });
});
