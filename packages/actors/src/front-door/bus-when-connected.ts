import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Bus } from "@millrace/proto/bus";
import { connectBus } from "@millrace/proto/nats-bus";

/**
 * A bus that is there before NATS is: until the first connection stands, requests fail after their time as they do in
 * any outage. So a front door that is started while NATS is away holds its streams instead of refusing them.
 */
export function busWhenConnected(
  to: { servers: string; name: string },
  ports: { clock: Clock; log: Log },
): Pick<Bus, "request" | "close"> {
  let bus: Bus | undefined;
  let isClosed = false;
  const connecting = connectBus({ ...to, log: ports.log }).then(async (connected) => {
    bus = connected;
    if (isClosed) await connected.close();
  });
  connecting.catch((error: unknown) => {
    ports.log.error("NATS cannot be used", { servers: to.servers, error: String(error) });
  });
  return {
    request: async (channel, ask) => {
      if (bus === undefined) await within(ask.timeoutMs, { connecting, clock: ports.clock });
      if (bus === undefined) {
        const message = `${ask.subject} could not be asked: NATS has not been reached yet`;
        throw new MillraceError({ remedy: "retry", code: "nats-unavailable", message });
      }
      return bus.request(channel, ask);
    },
    close: async () => {
      isClosed = true;
      await bus?.close();
    },
  };
}

function within(timeoutMs: number, on: { connecting: Promise<void>; clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const cancel = on.clock.after(timeoutMs, resolve);
    const settle = (): void => {
      cancel();
      resolve();
    };
    on.connecting.then(settle, settle);
  });
}
