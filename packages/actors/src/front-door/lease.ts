import { type Clock, every } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Bus } from "@millrace/proto/bus";
import { leaseChannel } from "@millrace/proto/channels";

/** A lease outlives three renewals. */
const renewMs = 10_000;
const answerWithinMs = 5_000;
const leaveWithinMs = 1_000;

/**
 * Keeps the attempts of this node from being swept while it lives. The first renewal is sent at once; when nobody
 * answers the next one comes in its time.
 *
 * @returns gives the lease up, so that attempts of connections that ended are swept in their time
 */
export function keepLease(
  node: string,
  ports: { bus: Pick<Bus, "request">; clock: Clock; log: Log },
): { leave: () => Promise<void> } {
  const ask = async (leaving: boolean): Promise<void> => {
    try {
      await ports.bus.request(leaseChannel, {
        subject: leaseChannel.name,
        message: { node, leaving },
        timeoutMs: leaving ? leaveWithinMs : answerWithinMs,
      });
    } catch (error) {
      ports.log.warn("the lease was not renewed", { node, leaving, error: errorText(error) });
    }
  };
  void ask(false);
  const stop = every(ports.clock, renewMs, () => ask(false));
  return {
    leave: () => {
      stop();
      return ask(true);
    },
  };
}
