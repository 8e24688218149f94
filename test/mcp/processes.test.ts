import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive, Place, Session, until } from "./session.ts";

let place: Place;
const sessions: Session[] = [];

beforeEach(() => {
  place = new Place();
});

afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
  place.remove();
});

/** A server whose Bazel is the given shell script. */
async function open(script: string, lines: readonly string[] = []): Promise<Session> {
  const config = place.config([`bazel_executable = ${JSON.stringify(place.fakeBazel(script))}`, ...lines]);
  const session = await Session.open(place, ["--config", config]);
  sessions.push(session);
  return session;
}

const query = (session: Session, more: object = {}) =>
  session.call("bazel_run", { workspace: place.workspace, command: "query", args: ["//..."], ...more });

async function stateOf(session: Session, id: unknown): Promise<string> {
  const list = await session.call("bazel_inspect", { view: "invocations", limit: 100 });
  const items = list.fields["items"] as { invocation_id: string; state: string }[];
  return items.find((item) => item.invocation_id === id)?.state ?? "unknown";
}

test("a Bazel that ignores SIGINT and SIGTERM is killed, with all that it started", async () => {
  const pidFile = path.join(place.home, "pids");
  const script = `trap '' INT TERM\nsh -c 'trap "" INT TERM; while :; do sleep 1; done' &\necho "$$ $!" > ${pidFile}\nwhile :; do sleep 1; done`;
  const session = await open(script, [
    "cancellation_interrupt_grace_seconds = 0.2",
    "cancellation_terminate_grace_seconds = 0.2",
  ]);
  const answer = await query(session, { wait_ms: 100 });
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").includes(" "));
  const pids = readFileSync(pidFile, "utf8").trim().split(" ").map(Number);
  const id = answer.fields["invocation_id"];
  await session.call("bazel_cancel", { invocation_id: id, reason: "stuck" });
  await session.call("bazel_inspect", { invocation_id: id, view: "summary", wait_ms: 60_000 });
  expect(await stateOf(session, id)).toBe("cancelled");
  await until(() => pids.every((pid) => !isAlive(pid)));
});

test("a timeout ends the run and says so", async () => {
  const session = await open("sleep 60", ["cancellation_interrupt_grace_seconds = 0.2"]);
  const answer = await query(session, { timeout_seconds: 1 });
  expect(answer.fields).toMatchObject({ state: "timed_out" });
  expect(answer.fields["headline"]).toContain("Timed out after 1 s");
});

test("a server killed while Bazel runs: the next one finishes the record, and Bazel goes too", async () => {
  const pidFile = path.join(place.home, "pid");
  const session = await open(`echo "$$" > ${pidFile}\necho partial-row\nexec sleep 300`);
  const answer = await query(session, { wait_ms: 100 });
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
  const bazelPid = Number(readFileSync(pidFile, "utf8"));
  process.kill(session.pid, "SIGKILL");
  await until(() => !isAlive(bazelPid));
  const next = await open("true");
  await until(async () => (await stateOf(next, answer.fields["invocation_id"])) === "interrupted");
  const summary = await next.call("bazel_inspect", {
    invocation_id: answer.fields["invocation_id"],
    view: "query_results",
  });
  expect(summary.text).toContain("partial-row");
});

test("a server killed while one waits for the output base: both are finished by the next", async () => {
  const session = await open("exec sleep 300");
  const running = await query(session, { wait_ms: 100 });
  const queued = await query(session, { wait_ms: 100 });
  expect(queued.fields).toMatchObject({ state: "queued" });
  process.kill(session.pid, "SIGKILL");
  const next = await open("echo row");
  for (const one of [running, queued]) {
    await until(async () => (await stateOf(next, one.fields["invocation_id"])) === "interrupted");
  }
  // The output base of the dead server is free again.
  expect((await query(next)).fields).toMatchObject({ state: "succeeded", query_result_count: 1 });
});

test("two servers share one output base: one waits for the other, and each sees the other's records", async () => {
  const gate = path.join(place.home, "gate");
  const script = `while [ ! -e ${gate} ]; do sleep 0.05; done\necho row`;
  const [one, two] = [await open(script), await open(script)];
  const first = await query(one, { wait_ms: 100 });
  const second = await query(two, { wait_ms: 500 });
  expect(second.text).toContain("waiting for the output base, held by invocation");
  writeFileSync(gate, "");
  for (const id of [first.fields["invocation_id"], second.fields["invocation_id"]]) {
    await until(async () => (await stateOf(one, id)) === "succeeded");
    await until(async () => (await stateOf(two, id)) === "succeeded");
  }
});

test("a run is cancelled from another server", async () => {
  const script = "exec sleep 300";
  const [one, two] = [await open(script, ["cancellation_interrupt_grace_seconds = 1"]), await open(script)];
  const answer = await query(one, { wait_ms: 100 });
  const id = answer.fields["invocation_id"];
  await until(async () => (await stateOf(two, id)) === "running");
  await two.call("bazel_cancel", { invocation_id: id, reason: "from next door" });
  await until(async () => (await stateOf(two, id)) === "cancelled");
  const summary = await two.call("bazel_inspect", { invocation_id: id, view: "summary" });
  expect(summary.text).toContain("from next door");
});

test("eight servers on one root: nothing is lost, nothing is seen twice", async () => {
  const servers = await Promise.all(Array.from({ length: 8 }, () => open("echo row")));
  const answers = await Promise.all(servers.map((server) => query(server)));
  const ids = answers.map((answer) => String(answer.fields["invocation_id"])).sort();
  expect(new Set(ids).size).toBe(8);
  for (const server of servers) {
    const list = await server.call("bazel_inspect", { view: "invocations", limit: 100 });
    const seen = (list.fields["items"] as { invocation_id: string }[]).map((item) => item.invocation_id);
    expect(seen.sort()).toEqual(ids);
  }
}, 240_000);

test("a client that closes its end stops what runs", async () => {
  const pidFile = path.join(place.home, "pid");
  const session = await open(`echo "$$" > ${pidFile}\nexec sleep 300`);
  await query(session, { wait_ms: 100 });
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
  const bazelPid = Number(readFileSync(pidFile, "utf8"));
  await session.close();
  sessions.pop();
  await until(() => !isAlive(bazelPid));
  const changes = readdirSync(path.join(place.cacheRoot, "changes"));
  expect(changes.some((name) => name.endsWith(".journal"))).toBe(true);
});
