import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Job } from "../jobs.ts";
import { type FindingKind, findingKinds, findingText } from "./finding.ts";
import { type Storage, verifyStorage } from "./verify-storage.ts";

const hourMs = 3_600_000;

/** Not in the first hour of a process, when there is other work. */
const firstAfterMs = hourMs;
const againAfterMs = 24 * hourMs;

/** Nine tenths of the time it rests. */
const restFactor = 9;

/** Findings that are logged one by one; `millrace verify` tells all of them. */
const loggedMax = 20;

/** Looks once a day whether what is stored is whole, beside the builds and slowly. Nothing is changed. */
export function verifyJob(
  storage: Storage,
  world: { clock: Clock; log: Log; found: (kind: FindingKind, count: number) => void; done: () => void },
): Job {
  let nextAt = world.clock.monotonic() + firstAfterMs;
  return {
    name: "verify",
    periodMs: hourMs,
    run: async () => {
      if (world.clock.monotonic() < nextAt) return;
      nextAt = world.clock.monotonic() + againAfterMs;
      const counts = new Map<FindingKind, number>(findingKinds.map((kind) => [kind, 0]));
      let logged = 0;
      const { attempts, archives } = await verifyStorage(storage, {
        deep: false,
        clock: world.clock,
        restFactor,
        onFinding: (finding) => {
          counts.set(finding.kind, (counts.get(finding.kind) ?? 0) + 1);
          if (logged >= loggedMax) return;
          logged += 1;
          world.log.error("what is stored is not whole", { kind: finding.kind, what: findingText(finding) });
        },
      });
      for (const [kind, count] of counts) world.found(kind, count);
      world.done();
      world.log.info("what is stored was looked at", { attempts, archives, logged });
    },
  };
}
