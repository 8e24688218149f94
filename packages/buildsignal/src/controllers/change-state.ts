import { changed, isTerminalState, type RequestState, type ValidationRequest } from "../entities.ts";
import type { SignalWrites } from "../store.ts";
import type { StageContext } from "./context.ts";

/** A request's next state and what goes with it. */
export interface StateChange {
  readonly state: RequestState;
  readonly reason?: string | null;
  readonly with?: Partial<ValidationRequest>;
}

/**
 * Changes a request's state with its line in the log and its fact for other programs; undefined when the request was
 * changed by somebody else meanwhile.
 */
export async function changeState(
  tx: SignalWrites,
  context: StageContext,
  what: { request: ValidationRequest; project: string; change: StateChange },
): Promise<ValidationRequest | undefined> {
  const { request, change } = what;
  const next = changed(request, {
    ...change.with,
    state: change.state,
    reason: change.reason ?? null,
  });
  if (!(await tx.updateRequest(next))) return undefined;
  await noteState(tx, context, { from: request.state, request: next, project: what.project });
  return next;
}

/** The log's line and the facts about a state that was just stored. */
export async function noteState(
  tx: SignalWrites,
  context: StageContext,
  what: { from: RequestState | ""; request: ValidationRequest; project: string },
): Promise<void> {
  const { request, from, project } = what;
  await tx.appendLog({
    requestId: request.id,
    queue: request.queue,
    atMs: context.clock.now(),
    who: context.who,
    from,
    to: request.state,
    reason: request.reason,
    buildId: request.buildId,
  });
  if (project === "") return; // A request whose queue is gone: there is nobody to tell.
  const { id, queue, uri, state, reason, buildId } = request;
  const data = { requestId: id, queue, uri, state, reason, buildId };
  await tx.announce({ project, kind: "request-changed", subject: id, data });
  if (isTerminalState(state) && (reason !== null || state === "cancelled")) {
    await tx.announce({ project, kind: "no-verdict", subject: id, data });
  }
}
