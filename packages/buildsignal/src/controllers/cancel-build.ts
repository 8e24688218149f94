import { errorText } from "@millrace/base/errors";
import type { CancelCause } from "../stage-metrics.ts";
import type { StageContext } from "./context.ts";

/** Asks the runner to stop a build that nobody waits for any more. Failing changes nothing. */
export async function cancelQuietly(
  context: StageContext,
  what: { queue: string; handle: string; cause: CancelCause; signal: AbortSignal },
): Promise<void> {
  const { queue, handle, cause } = what;
  try {
    const configured = context.queues.get(queue);
    if (configured === undefined) return;
    await configured.runner.cancel(handle, what.signal);
    context.metrics.cancelled(queue, { cause, reached: true });
  } catch (error) {
    context.metrics.cancelled(queue, { cause, reached: false });
    context.log.warn("a build was not cancelled", { queue, handle, cause, error: errorText(error) });
  }
}
