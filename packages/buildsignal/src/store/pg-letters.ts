import type { Lane } from "@millrace/db/lane";
import { signalDeadLetters } from "@millrace/db/schema/signal-dead-letters";
import { signalDeliveries } from "@millrace/db/schema/signal-deliveries";
import { signalPartitions } from "@millrace/db/schema/signal-partitions";
import type { SignalLetterName } from "@millrace/proto/channels";
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { LetterStore } from "../letter-store.ts";
import { deadGroupOf, deadTopicOf } from "../queue/message.ts";
import { asFailure } from "./failure.ts";
import { serverNow } from "./pg-queue.ts";
import { namesOf, publishMessage } from "./publish.ts";
import { queueTexts } from "./queue-texts.ts";

const texts = queueTexts(serverNow);

export function pgLetters(lane: Lane, onPublished: () => void): LetterStore {
  return {
    settle: async (named, how) => {
      const wasThere = await asFailure(() =>
        lane.transact(async (tx) => {
          const [letter] = await tx.orm
            .update(signalDeadLetters)
            .set({ state: how === "redrive" ? "redriven" : "discarded", settledAt: sql`now()` })
            .where(isNamed(named))
            .returning();
          if (letter === undefined) return false;
          const { topic, groupName: group, partitionKey: key, messageId } = letter;
          const dead = { topic: deadTopicOf(topic), group: deadGroupOf(group), key };
          const isDead = and(
            eq(signalPartitions.topic, dead.topic),
            eq(signalPartitions.groupName, dead.group),
            eq(signalPartitions.partitionKey, key),
          );
          // Locked before its deliveries are read. A reconciler that has it in hand finds its receipt void.
          await tx.orm
            .select({ id: signalPartitions.headId })
            .from(signalPartitions)
            .where(isDead)
            .for("update");
          await tx.orm
            .delete(signalDeliveries)
            .where(
              and(
                eq(signalDeliveries.topic, dead.topic),
                eq(signalDeliveries.groupName, dead.group),
                eq(signalDeliveries.partitionKey, key),
                eq(signalDeliveries.messageId, messageId),
                isNull(signalDeliveries.doneAt),
              ),
            );
          await tx.unsafe(texts.chooseHeads, namesOf([dead]));
          if (how === "discard") return true;
          const { payload, metadata } = letter;
          const message = { topic, key, id: messageId, payload: payload as object, metadata };
          await publishMessage(tx, message, { texts, groups: [group] });
          return true;
        }),
      );
      if (wasThere) onPublished();
      return wasThere;
    },
  };
}

function isNamed(letter: SignalLetterName): SQL | undefined {
  if ("id" in letter) return eq(signalDeadLetters.id, letter.id);
  return and(
    eq(signalDeadLetters.topic, letter.topic),
    eq(signalDeadLetters.groupName, letter.group),
    eq(signalDeadLetters.partitionKey, letter.key),
    eq(signalDeadLetters.messageId, letter.messageId),
  );
}
