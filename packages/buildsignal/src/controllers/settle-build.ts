import { type Build, changed, hasOutcome, type ValidationRequest } from "../entities.ts";
import { type BuildObservation, isTerminalStatus, type TerminalStatus } from "../runner.ts";
import type { SignalWrites } from "../store.ts";
import { recordMessage } from "../topics.ts";
import { type StageContext, versionMismatch } from "./context.ts";
import { endRequest } from "./end-request.ts";

/** What a build turned out to be. */
export interface Observed {
  readonly status: "accepted" | "running" | TerminalStatus;
  readonly reason?: string;
  readonly providerState?: string;
  readonly url?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What a runner said, as something to store; undefined for `unknown`, which says nothing. */
export function observedOf(observation: BuildObservation): Observed | undefined {
  const { status, noVerdict, providerState, url, metadata } = observation;
  if (status === "unknown") return undefined;
  return {
    status,
    ...(noVerdict !== undefined && isTerminalStatus(status) && { reason: noVerdict }),
    ...(providerState !== undefined && { providerState }),
    ...(url !== undefined && { url }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Stores a build's new status. Fails, retryably, when somebody else has stored one meanwhile. */
export async function storeStatus(tx: SignalWrites, build: Build, observed: Observed): Promise<Build> {
  const next = changed(build, {
    status: observed.status,
    reason: observed.reason ?? null,
    providerState: observed.providerState ?? build.providerState,
    url: observed.url ?? build.url,
    metadata: observed.metadata ?? build.metadata,
  });
  if (await tx.updateBuild(next)) return next;
  throw versionMismatch(build.id);
}

/**
 * What follows from a terminal build, in this order: its status, the slot, the request's outcome, the message to
 * record. One transaction where the store has them; safe after every write where it has not. A build whose request
 * has its outcome already only has it recorded.
 */
export async function settleBuild(
  context: StageContext,
  what: { build: Build; request: ValidationRequest; observed?: Observed },
): Promise<void> {
  const { request } = what;
  await context.store.transact(async (tx) => {
    let { build } = what;
    if (what.observed !== undefined) {
      build = await storeStatus(tx, build, what.observed);
      context.points.reach("status-stored");
    }
    if (!isTerminalStatus(build.status)) throw versionMismatch(build.id);
    if (!hasOutcome(request.state)) {
      const { status: state, reason } = build;
      await endRequest(tx, context, { request, state, reason, from: ["processing"] });
    }
    await tx.publish(recordMessage(request));
    context.points.reach("record-published");
  });
  context.points.reach("settled");
}
