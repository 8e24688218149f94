import { type Clock, delay } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { type Log, silentLog } from "@millrace/base/log";
import { connectBus, type NatsBus } from "@millrace/proto/nats-bus";
import type { Terminal } from "./command-line/terminal.ts";

const connectMaxMs = 5_000;

/** A bus for a command that somebody waits for: fails with a sentence when NATS does not answer in 5 s. */
export async function connectOrFail(servers: string, world: { log: Log; clock: Clock }): Promise<NatsBus> {
  const connecting = connectBus({ servers, name: "millrace-cli", log: world.log });
  const bus = await Promise.race([connecting, delay(world.clock, connectMaxMs).then(() => undefined)]);
  if (bus !== undefined) return bus;
  throw new MillraceError({
    remedy: "retry",
    code: "nats-away",
    message: `NATS at ${servers} does not answer.`,
  });
}

/** Warnings go to standard error, as sentences. */
export function logTo(terminal: Terminal): Log {
  return {
    ...silentLog,
    warn: (message) => terminal.complain(message),
    error: (message) => terminal.complain(message),
  };
}
