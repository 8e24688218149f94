import { readdirSync, unlinkSync } from "node:fs";
import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import { BepFile } from "../capture/bep-file.ts";
import { conclude, type Tools } from "../conclude/conclude.ts";
import { publisherIsDead } from "../store/journal.ts";
import { file } from "../store/layout.ts";
import { isTerminal } from "../store/record.ts";

/**
 * Finishes the records that a dead server left: what its build had said until then is read from the retained events, so
 * an interrupted run still tells its failures. Returns how many were finished.
 */
export async function recoverOrphans(tools: Tools & { readonly log: Log }): Promise<number> {
  const { store, clock, log } = tools;
  const verdicts = new Map<string, boolean>();
  const isDead = (owner: string): boolean => {
    const known = verdicts.get(owner);
    if (known !== undefined) return known;
    const verdict =
      owner !== store.publisher.id &&
      publisherIsDead(store.layout.changes, { publisher: owner, nowMs: clock.now() });
    verdicts.set(owner, verdict);
    return verdict;
  };
  const orphans = [...store.index.all()].filter((entry) => !isTerminal(entry.state) && isDead(entry.owner));
  let recovered = 0;
  for (const { id } of orphans) {
    try {
      await recover(id, tools);
      recovered += 1;
    } catch (error) {
      // A full disk, or damage within: it stays as it is for the next pass, and the rest of upkeep goes on.
      log.warn("a dead server's invocation could not be finished", { id, error: errorText(error) });
    }
  }
  return recovered;
}

async function recover(id: string, tools: Tools): Promise<void> {
  const { store, clock } = tools;
  const invocation = store.read(id);
  if (isTerminal(invocation.state)) return;
  for (const name of readdirSync(store.directory(id))) {
    if (name.endsWith(".tmp")) unlinkSync(store.pathOf(id, name));
  }
  const bep = new BepFile(store.pathOf(id, file.events));
  await bep.finish();
  const finishedAtMs = clock.now();
  const reduced = bep.reducer.reduced();
  const summary = await conclude(
    {
      ...{ invocation, reduced, state: "interrupted", exitCode: null, reason: "", finishedAtMs },
      bepFault: bep.fault,
      filesAre: "here",
    },
    tools,
  );
  await store.commit({
    ...invocation,
    // Who finishes a record owns it from then on.
    owner: store.publisher.id,
    ...{ state: "interrupted", finished_at_ms: finishedAtMs, termination: { kind: "interrupted" }, summary },
    metrics: { ...invocation.metrics, bep_bytes: bep.bytes, bep_events: reduced.events },
  });
}
