import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Bus } from "@millrace/proto/bus";
import { leaseChannel } from "@millrace/proto/channels";

/** A lease outlives three renewals. */
const renewMs = 10_000;
/** Nobody answers while writers start or move: soon again. */
const retryMs = 1_000;
const answerWithinMs = 5_000;
const leaveWithinMs = 1_000;
/** From this failure in a row on it is worth a line: at a start the first writer needs a moment. */
const failuresWorthALine = 5;

/**
 * Keeps the attempts of this node from being swept while it lives. The first renewal is sent at once.
 *
 * @returns gives the lease up, so that attempts of connections that ended are swept in their time
 */
export function keepLease(
  node: string,
  ports: { bus: Pick<Bus, "request">; clock: Clock; log: Log },
): { leave: () => Promise<void> } {
  let failures = 0;
  let cancel = (): void => {};
  let hasLeft = false;
  const ask = async (leaving: boolean): Promise<void> => {
    try {
      await ports.bus.request(leaseChannel, {
        subject: leaseChannel.name,
        message: { node, leaving },
        timeoutMs: leaving ? leaveWithinMs : answerWithinMs,
      });
      failures = 0;
    } catch (error) {
      failures += 1;
      const say = failures === failuresWorthALine || leaving ? ports.log.warn : ports.log.debug;
      say("the lease was not renewed", { node, leaving, failures, error: errorText(error) });
    }
  };
  const renew = async (): Promise<void> => {
    await ask(false);
    if (!hasLeft) cancel = ports.clock.after(failures === 0 ? renewMs : retryMs, () => void renew());
  };
  void renew();
  return {
    leave: () => {
      hasLeft = true;
      cancel();
      return ask(true);
    },
  };
}
