import { isTerminalState, type ValidationRequest } from "../entities.ts";
import { cancelQuietly } from "./cancel-build.ts";
import { reject, type StageContext } from "./context.ts";
import { endRequest } from "./end-request.ts";

const reason = "cancelled_by_operator";

/**
 * Cancels a request. One without a build ends at once; a build is asked to stop, and how it ends is the outcome, as
 * its runner then tells. A terminal request stays what it is. Answers the request as it is afterwards.
 */
export async function cancelRequest(
  context: StageContext,
  id: string,
  signal: AbortSignal,
): Promise<ValidationRequest> {
  const request = await context.store.request(id);
  if (request === undefined) throw reject("not-found", `there is no request ${id}`);
  if (isTerminalState(request.state)) return request;
  const build = request.buildId === null ? undefined : await context.store.build(request.buildId);
  if (build !== undefined) {
    const { queue, handle } = build;
    await cancelQuietly(context, { queue, handle, cause: "operator", signal });
    return request;
  }
  await context.store.transact((tx) =>
    endRequest(tx, context, { request, state: "cancelled", reason, from: ["accepted", "processing"] }),
  );
  return (await context.store.request(id)) ?? request;
}
