import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import type { Invocation } from "@millrace/mcp/store/record";
import { Store } from "@millrace/mcp/store/store";

/**
 * Lives one invocation in the store that is its first argument, and dies by SIGKILL at the step that is its second. The step
 * `remove` removes the invocation that is the third.
 */
const [root = "", step = "", other = ""] = process.argv.slice(2);
const store = new Store({ root, clock: systemClock, random: systemRandom, log: silentLog });
const invocation: Invocation = {
  request: {
    id: store.newId(),
    workspace: "/ws",
    command: "build",
    timeout_ms: 1,
    requested_at_ms: systemClock.now(),
  },
  owner: store.publisher.id,
  state: "queued",
  payload_bytes: 0,
};
const { id } = invocation.request;
process.stdout.write(`${id}\n`);

function die(at: string): void {
  if (at === step) process.kill(process.pid, "SIGKILL");
}

/** A commit that dies with its change announced but not written. */
async function dieAnnounced(at: string): Promise<void> {
  if (at === step) await store.queue.commit(id, () => process.kill(process.pid, "SIGKILL"));
}

try {
  if (step === "remove") {
    // In one turn of the queue: removed, and then dead before the notice.
    void store.remove(other);
    await store.queue.commit(id, () => process.kill(process.pid, "SIGKILL"));
  }
  await dieAnnounced("create-announced");
  await store.create(invocation);
  die("created");
  await dieAnnounced("starting-announced");
  await store.commit({ ...invocation, state: "starting" });
  die("starting");
  await store.commit({ ...invocation, state: "running" });
  die("running");
  if (step === "read-only") {
    execFileSync("mount", ["--bind", root, root]);
    execFileSync("mount", ["-o", "remount,bind,ro", root]);
  }
  writeFileSync(store.pathOf(id, "stdout.log"), "x".repeat(step === "fill" ? 400_000 : 4096));
  die("evidence");
  store.writeSidecar(id, "details.json", { targets: [{ label: "//a", success: true }] });
  die("sidecar");
  const final: Invocation = { ...invocation, state: "succeeded", finished_at_ms: systemClock.now() };
  if (step === "final-written") {
    // In one turn of the queue: written, and then dead before the notice.
    void store.commit(final);
    await store.queue.commit(id, () => process.kill(process.pid, "SIGKILL"));
  }
  await dieAnnounced("final-announced");
  await store.commit(final);
  die("final");
  await store.close();
} catch (error) {
  const { message } = error as Error;
  const text = error instanceof MillraceError ? `${error.code} ${message}` : message;
  process.stdout.write(`${text}\n`);
}
