import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { descendantsOf, processesWith } from "./process-tree.ts";
import { type Answer, isAlive, Place, Session, until } from "./session.ts";

const bazel = await tool("bazel");
// Bazel gives what it interrupts fifteen seconds otherwise.
const local = ["--spawn_strategy=local", "--local_termination_grace_seconds=1"];
// Found in command lines, so that nothing else on the machine is taken for it.
const sleep = `sleep 30${process.pid % 90}.${process.pid}`;

const build = `
genrule(name = "quick", outs = ["quick.txt"], cmd = "echo quick > $@", local = True)
genrule(name = "slow", outs = ["slow.txt"], cmd = "${sleep}; touch $@", local = True)
sh_test(name = "slow_test", srcs = ["slow.sh"], size = "large", local = True)
sh_test(name = "fail_test", srcs = ["fail.sh"], local = True)
sh_binary(name = "slow_program", srcs = ["slow.sh"])
`;

describe.skipIf(bazel.kind === "missing")("servers killed with a real Bazel under them", () => {
  let place: Place;
  let config = "";
  const sessions: Session[] = [];

  beforeAll(async () => {
    place = new Place(path.resolve(import.meta.dirname, "../e2e/workspace"));
    const directory = path.join(place.workspace, "kill");
    mkdirSync(directory);
    writeFileSync(path.join(directory, "BUILD"), build);
    writeFileSync(path.join(directory, "slow.sh"), `#!/bin/sh\necho begun\n${sleep}\n`, { mode: 0o755 });
    writeFileSync(path.join(directory, "fail.sh"), "#!/bin/sh\necho 'error: told before the end'\nexit 1\n", {
      mode: 0o755,
    });
    config = place.config([
      `output_user_root = ${JSON.stringify(place.outputUserRoot)}`,
      `bazel_executable = ${JSON.stringify(bazel.kind === "missing" ? "" : bazel.path)}`,
      'denied_commands = ["clean"]',
      'allowed_commands = ["build", "test", "query", "info", "run", "shutdown"]',
    ]);
    // Extracts and starts the Bazel server, once for all tests.
    const session = await open();
    expect((await run(session, "build", ["//kill:quick"])).fields).toMatchObject({ state: "succeeded" });
  });

  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
  });

  afterAll(async () => {
    const session = await open();
    await run(session, "shutdown", []);
    await session.close();
    place.remove();
  });

  async function open(): Promise<Session> {
    const session = await Session.open(place, ["--config", config]);
    sessions.push(session);
    return session;
  }

  const run = (
    session: Session,
    command: string,
    args: readonly string[],
    more: object = {},
  ): Promise<Answer> => session.call("bazel_run", { workspace: place.workspace, command, args, ...more });

  /** The directory of the newest invocation. */
  function newest(): string {
    const root = path.join(place.cacheRoot, "invocations");
    const found = readdirSync(root).flatMap((day) =>
      readdirSync(path.join(root, day)).flatMap((shard) =>
        readdirSync(path.join(root, day, shard)).map((id) => path.join(root, day, shard, id)),
      ),
    );
    return found.sort((a, b) => (path.basename(a) < path.basename(b) ? 1 : -1))[0] ?? "";
  }

  function stateIn(directory: string): string {
    try {
      const manifest = JSON.parse(readFileSync(path.join(directory, "manifest.json"), "utf8"));
      return (manifest as { state: string }).state;
    } catch {
      return "none";
    }
  }

  const bytesOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);
  const isActionRunning = (): boolean =>
    processesWith(sleep).some(({ command }) => command.startsWith("sleep"));

  interface Moment {
    readonly command: string;
    readonly args: readonly string[];
    readonly more?: object;
    /** Looked at again and again, without a pause, until it is true. */
    readonly isNow: (at: { before: string; server: number }) => boolean;
  }

  const moments: readonly (readonly [string, Moment])[] = [
    [
      "it starts Bazel",
      {
        command: "build",
        args: ["//kill:slow", ...local],
        isNow: ({ before }) => newest() !== before && ["starting", "running"].includes(stateIn(newest())),
      },
    ],
    [
      "Bazel's client runs and no event has come",
      {
        command: "build",
        args: ["//kill:slow", ...local],
        isNow: ({ before, server }) => newest() !== before && descendantsOf(server).length > 0,
      },
    ],
    [
      "Bazel loads and analyses",
      {
        command: "build",
        args: ["//big:all", "--nobuild", "--build_tag_filters=-none"],
        isNow: ({ before }) => newest() !== before && bytesOf(path.join(newest(), "events.bep")) > 0,
      },
    ],
    ["an action runs", { command: "build", args: ["//kill:slow", ...local], isNow: isActionRunning }],
    ["a test runs", { command: "test", args: ["//kill:slow_test", ...local], isNow: isActionRunning }],
    [
      "a program runs",
      { command: "run", args: local, more: { target: "//kill:slow_program" }, isNow: isActionRunning },
    ],
    [
      "Bazel has just ended",
      {
        command: "build",
        args: ["//kill:quick"],
        isNow: ({ before, server }) =>
          newest() !== before &&
          bytesOf(path.join(newest(), "stderr.log")) > 0 &&
          descendantsOf(server).length === 0,
      },
    ],
  ];

  test.each(moments)(
    "while %s: Bazel goes, the record is finished, the output base is free",
    async (_name, moment) => {
      const session = await open();
      const before = newest();
      const asked = run(session, moment.command, moment.args, moment.more).catch(() => undefined);
      await until(() => moment.isNow({ before, server: session.pid }));
      const children = descendantsOf(session.pid).map(({ pid }) => pid);
      process.kill(session.pid, "SIGKILL");
      await until(() => !isAlive(session.pid) && children.every((pid) => !isAlive(pid)));
      await until(() => !isActionRunning());
      await asked;
      const directory = newest();
      expect(directory).not.toBe(before);
      const next = await open();
      await until(() => !["queued", "starting", "running"].includes(stateIn(directory)));
      // The answer may have been on its way already when the last of them came.
      expect(["interrupted", ...(moment.args.includes("//kill:quick") ? ["succeeded"] : [])]).toContain(
        stateIn(directory),
      );
      const summary = await next.call("bazel_inspect", {
        invocation_id: path.basename(directory),
        view: "summary",
      });
      expect(summary.isError).toBe(false);
      expect(summary.text).toMatch(/Interrupted: the server that ran it went away|1 target built/);
      expect((await run(next, "build", ["//kill:quick"])).fields).toMatchObject({ state: "succeeded" });
    },
  );

  test("while one runs and one waits for it: both are finished, and what had failed by then is told", async () => {
    const session = await open();
    const running = run(session, "test", ["-k", "//kill:fail_test", "//kill:slow_test", ...local], {
      wait_ms: 50,
    });
    const first = await running;
    const second = await run(session, "build", ["//kill:quick"], { wait_ms: 50 });
    expect(second.fields).toMatchObject({ state: "queued" });
    await until(isActionRunning);
    await until(async () => {
      const tests = await session.call("bazel_inspect", {
        invocation_id: first.fields["invocation_id"],
        view: "summary",
      });
      return tests.text.includes("1 did not");
    });
    process.kill(session.pid, "SIGKILL");
    await until(() => !isActionRunning());
    const next = await open();
    const look = (id: unknown): Promise<Answer> =>
      next.call("bazel_inspect", { invocation_id: id, view: "summary" });
    await until(async () => (await look(first.fields["invocation_id"])).text.includes('"interrupted"'));
    await until(async () => (await look(second.fields["invocation_id"])).text.includes('"interrupted"'));
    expect((await look(first.fields["invocation_id"])).text).toContain("error: told before the end");
  });

  test("two servers on one root: one is killed while the other waits for its Bazel, which then runs", async () => {
    const [one, two] = [await open(), await open()];
    const doomed = await run(one, "build", ["//kill:slow", ...local], { wait_ms: 50 });
    await until(isActionRunning);
    const waiting = run(two, "build", ["//kill:quick"]);
    await until(() => stateIn(newest()) === "queued");
    process.kill(one.pid, "SIGKILL");
    expect((await waiting).fields).toMatchObject({ state: "succeeded" });
    const third = await open();
    await until(async () => {
      const look = await third.call("bazel_inspect", {
        invocation_id: doomed.fields["invocation_id"],
        view: "summary",
      });
      return look.text.includes('"interrupted"');
    });
  });

  test("eight servers on one root, three of them killed: the others' builds all succeed and are seen by all", async () => {
    const servers = await Promise.all(Array.from({ length: 8 }, open));
    const answers = servers.map((server, index) =>
      run(server, "query", [`//big:t${index}`]).catch((): undefined => undefined),
    );
    const doomed = servers.slice(0, 3);
    await until(() => existsSync(newest()));
    for (const server of doomed) process.kill(server.pid, "SIGKILL");
    const survivors = servers.slice(3);
    const ids: unknown[] = [];
    for (const answer of await Promise.all(answers.slice(3))) {
      expect(answer?.fields).toMatchObject({ state: "succeeded", query_result_count: 1 });
      ids.push(answer?.fields["invocation_id"]);
    }
    expect(new Set(ids).size).toBe(5);
    for (const server of survivors) {
      await until(async () => {
        const list = await server.call("bazel_inspect", { view: "invocations", limit: 100, max_bytes: 8192 });
        return ids.every((id) => list.text.includes(String(id)));
      });
    }
    const witness = await open();
    await until(async () => {
      const list = await witness.call("bazel_inspect", { view: "invocations", state: "running" });
      const queued = await witness.call("bazel_inspect", { view: "invocations", state: "queued" });
      return [list, queued].every(
        (answer) => (answer.fields["items"] as unknown[] | undefined)?.length === 0,
      );
    });
  });
});
