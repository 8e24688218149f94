import { errorText, MillraceError } from "@millrace/base/errors";
import { eventsChannel } from "@millrace/proto/channels";
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { FactStream } from "./outbox-relay.ts";

/** The relay asks twice in a transaction, which must not idle for 5 s. */
const publishTimeoutMs = 2_000;
const keptDays = 7;
const nanosecondsPerSecond = 1_000_000_000;

/** JetStream on NATS 2.9 and newer. */
export function natsFactStream(connection: NatsConnection): FactStream {
  const publisher = jetstream(connection, { timeout: publishTimeoutMs });
  return {
    identity: async () => {
      try {
        return await ensureStream(await jetstreamManager(connection, { timeout: publishTimeoutMs }));
      } catch (error) {
        throw away(error);
      }
    },
    publish: async ({ subject, json, messageId }) => {
      try {
        await publisher.publish(subject, json, { msgID: messageId, timeout: publishTimeoutMs });
      } catch (error) {
        throw away(error);
      }
    },
  };
}

async function ensureStream(manager: JetStreamManager): Promise<string> {
  try {
    return (await manager.streams.info(eventsChannel.stream)).created;
  } catch (error) {
    const isMissing = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
    if (!isMissing) throw error;
  }
  // Adding one that another writer has just added with the same settings answers that one.
  const made = await manager.streams.add({
    name: eventsChannel.stream,
    subjects: [...eventsChannel.captures],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: keptDays * 86_400 * nanosecondsPerSecond,
  });
  return made.created;
}

function away(cause: unknown): MillraceError {
  const message = `JetStream does not take facts: ${errorText(cause)}`;
  return new MillraceError({ remedy: "retry", code: "jetstream-unavailable", message, cause });
}
