import { createHash, timingSafeEqual } from "node:crypto";
import { MillraceError } from "@millrace/base/errors";
import type { Bus } from "@millrace/proto/bus";
import { type SignalAnswer, type SignalCommand, signalCommandChannel } from "@millrace/proto/channels";

/** What the API needs to have something done by the build-signal controller. */
export interface SignalAccess {
  /** Fails with remedy `retry` when no controller answers. */
  send(command: SignalCommand): Promise<SignalAnswer>;
  /** Whoever gives it back may administer; empty: nobody may over the API. */
  readonly adminToken: string;
}

/** A controller may ask the outside, which takes it up to 30 s. */
const answerMsMax = 35_000;

/** Sends commands over the bus that is there at the moment. */
export function signalAccess(of: { bus: () => Bus | undefined; adminToken: string }): SignalAccess {
  return {
    adminToken: of.adminToken,
    send: async (command) => {
      const bus = of.bus();
      if (bus === undefined) {
        throw new MillraceError({ remedy: "retry", code: "nats-away", message: "NATS does not answer" });
      }
      const ask = { subject: signalCommandChannel.name, message: command, timeoutMs: answerMsMax };
      return await bus.request(signalCommandChannel, ask);
    },
  };
}

/** Whether an `Authorization` header holds the token as a bearer's. */
export function isAdmin(
  access: Pick<SignalAccess, "adminToken">,
  authorization: string | undefined,
): boolean {
  return isAdminToken(access, /^Bearer (.+)$/i.exec(authorization ?? "")?.[1] ?? "");
}

/** Takes the same time whatever is wrong with it. */
export function isAdminToken(access: Pick<SignalAccess, "adminToken">, given: string): boolean {
  const isSame = timingSafeEqual(digest(given), digest(access.adminToken));
  return isSame && access.adminToken !== "";
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
