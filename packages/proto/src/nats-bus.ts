import { AssertionFailure } from "@millrace/base/assert";
import { EndOfTurn } from "@millrace/base/end-of-turn";
import { errorText, MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import {
  connect,
  type Msg,
  type NatsConnection,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from "@nats-io/transport-node";
import type { Bus, BusSubscription } from "./bus.ts";

/** The connection under a bus, for what channels do not cover: JetStream in the outbox relay. */
export interface NatsBus extends Bus {
  readonly connection: NatsConnection;
}

/**
 * A bus over NATS. Connects for ever: a server that is away at the start or later is waited for, and requests
 * fail meanwhile with remedy `retry`.
 *
 * @param settings.servers comma-separated list of addresses, or one DNS name
 */
export async function connectBus(settings: { servers: string; name: string; log: Log }): Promise<NatsBus> {
  const connection = await connect({
    servers: settings.servers.split(",").map((server) => server.trim()),
    name: settings.name,
    reconnect: true,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    pingInterval: 5_000,
    maxPingOut: 2,
    ignoreClusterUpdates: false,
  });
  void logStatus(connection, settings.log);
  return natsBus(connection, settings.log);
}

function natsBus(connection: NatsConnection, log: Log): NatsBus {
  const endOfTurn = new EndOfTurn();
  const respond = (message: Msg, payload: Uint8Array): void =>
    endOfTurn.add(() => {
      if (!connection.isClosed()) message.respond(payload);
    });
  return {
    connection,
    request: async (channel, ask) => {
      const payload = channel.request.encode(ask.message);
      const asking = new Promise<Msg>((resolve, reject) => {
        endOfTurn.add(() => {
          connection.request(ask.subject, payload, { timeout: ask.timeoutMs }).then(resolve, reject);
        });
      });
      let answer: Msg;
      try {
        answer = await asking;
      } catch (error) {
        throw requestFailure(ask.subject, error);
      }
      return channel.reply.decode(answer.data);
    },
    publish: (channel, say) => {
      const payload = channel.message.encode(say.message);
      endOfTurn.add(() => {
        if (!connection.isClosed()) connection.publish(say.subject, payload);
      });
    },
    serve: (channel, at, handler) => {
      const subscription = connection.subscribe(at.subject, {
        queue: at.queue,
        callback: (error, message) => {
          if (error !== null) return;
          void answer(message, { channel, handler, log, respond });
        },
      });
      return drained(subscription);
    },
    subscribe: (channel, subject, handler) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          const decoded = tryDecode(() => channel.message.decode(message.data), { message, log });
          if (decoded !== undefined) handler(decoded, message.subject);
        },
      });
      return drained(subscription);
    },
    close: async () => {
      await new Promise<void>((resolve) => endOfTurn.add(resolve));
      if (!connection.isClosed()) await connection.close();
    },
  };
}

async function answer<Q, A>(
  message: Msg,
  how: {
    channel: { request: { decode(bytes: Uint8Array): Q }; reply: { encode(reply: A): Uint8Array } };
    handler: (message: Q) => Promise<A>;
    log: Log;
    respond: (message: Msg, payload: Uint8Array) => void;
  },
): Promise<void> {
  const decoded = tryDecode(() => how.channel.request.decode(message.data), { message, log: how.log });
  if (decoded === undefined) return;
  try {
    const reply = await how.handler(decoded);
    how.respond(message, how.channel.reply.encode(reply));
  } catch (error) {
    if (error instanceof AssertionFailure) throw error;
    // No answer is the answer: the asker asks again.
    how.log.warn("a request was not answered", { subject: message.subject, error: errorText(error) });
  }
}

function tryDecode<T>(decode: () => T, from: { message: Msg; log: Log }): T | undefined {
  try {
    return decode();
  } catch (error) {
    from.log.error("a message on a declared channel does not decode", {
      subject: from.message.subject,
      bytes: from.message.data.length,
      error: errorText(error),
    });
    return undefined;
  }
}

function drained(subscription: { drain(): Promise<void>; isClosed(): boolean }): BusSubscription {
  return {
    stop: async () => {
      if (!subscription.isClosed()) await subscription.drain();
    },
  };
}

function requestFailure(subject: string, cause: unknown): MillraceError {
  const failure = (code: string, message: string): MillraceError =>
    new MillraceError({ remedy: "retry", code, message, cause });
  if (cause instanceof NoRespondersError || (cause instanceof RequestError && cause.isNoResponders())) {
    return failure("nats-no-responders", `nobody serves ${subject}`);
  }
  if (cause instanceof TimeoutError) return failure("nats-timeout", `no answer on ${subject} in time`);
  return failure("nats-unavailable", `${subject} could not be asked`);
}

async function logStatus(connection: NatsConnection, log: Log): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === "disconnect") log.warn("NATS is away", {});
    if (status.type === "reconnect") log.info("NATS is back", {});
  }
}
