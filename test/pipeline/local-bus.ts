import { MillraceError } from "@millrace/base/errors";
import type { Bus } from "@millrace/proto/bus";

/**
 * A bus inside one process, for tests that need the real actors and the real writer but no broker between them.
 * Bytes cross it as they would cross NATS; nothing is lost.
 */
export function localBus(): Bus {
  const servers = new Map<string, (bytes: Uint8Array) => Promise<Uint8Array>>();
  const listeners = new Map<string, (bytes: Uint8Array) => void>();
  const stopServing = (subject: string) => ({
    stop: async () => {
      servers.delete(subject);
    },
  });
  return {
    request: async (channel, ask) => {
      const serve = servers.get(ask.subject);
      if (serve === undefined) {
        throw new MillraceError({ remedy: "retry", code: "nats-no-responders", message: ask.subject });
      }
      return channel.reply.decode(await serve(channel.request.encode(ask.message)));
    },
    publish: (channel, say) => listeners.get(say.subject)?.(channel.message.encode(say.message)),
    serve: (channel, at, handler) => {
      servers.set(at.subject, async (bytes) =>
        channel.reply.encode(await handler(channel.request.decode(bytes))),
      );
      return stopServing(at.subject);
    },
    subscribe: (channel, subject, handler) => {
      listeners.set(subject, (bytes) => handler(channel.message.decode(bytes), subject));
      return {
        stop: async () => {
          listeners.delete(subject);
        },
      };
    },
    close: async () => {},
  };
}
