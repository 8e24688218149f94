import { appendFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { Maintainer } from "@millrace/mcp/maintain/maintainer";
import { createRedactor } from "@millrace/mcp/redact/redactor";
import type { Invocation } from "@millrace/mcp/store/record";
import { Store } from "@millrace/mcp/store/store";

/**
 * Fills the disk that its first argument lies on with finished invocations, to the last byte, and then applies retention.
 * Prints what upkeep did and whether there is room for a new invocation.
 */
const [root = ""] = process.argv.slice(2);
const store = new Store({ root, clock: systemClock, random: systemRandom, log: silentLog });
const pageBytes = 4096;

function queued(): Invocation {
  const request = {
    ...{ id: store.newId(), workspace: "/ws", command: "query", timeout_ms: 1 },
    requested_at_ms: systemClock.now(),
  };
  return { request, owner: store.publisher.id, state: "queued", payload_bytes: 0 };
}

async function live(): Promise<void> {
  const invocation = queued();
  await store.create(invocation);
  await store.commit({ ...invocation, state: "starting" });
  await store.commit({ ...invocation, state: "running" });
  writeFileSync(store.pathOf(invocation.request.id, "stdout.log"), "x".repeat(4 * pageBytes));
  await store.commit({ ...invocation, state: "succeeded", finished_at_ms: systemClock.now() });
}

async function untilFull(action: () => unknown): Promise<string> {
  try {
    for (;;) await action();
  } catch (error) {
    return errorText(error);
  }
}

for (let lives = 0; lives < 16; lives += 1) await live();
// Not one more change can be announced: the journal ends where a page ends.
const known = store.newId();
while (store.publisher.settled % pageBytes !== 0) store.publisher.announce([known]);
const filler = path.join(root, "filler");
process.stdout.write(`${await untilFull(() => appendFileSync(filler, "x".repeat(pageBytes)))}\n`);
process.stdout.write(`${await untilFull(() => store.create(queued()))}\n`);
const maintainer = new Maintainer(
  { store, redactor: createRedactor([]), clock: systemClock, log: silentLog },
  {
    retentionDays: 7,
    successEvidenceHours: 1000,
    failureEvidenceHours: 1000,
    maximumStorageBytes: 8 * 5 * pageBytes,
  },
);
const report = await maintainer.pass();
process.stdout.write(`${JSON.stringify(report)} left ${store.index.size}\n`);
await live();
process.stdout.write("there is room again\n");
await store.close();
