import { type Clock, delay, every } from "@millrace/base/clock";
import type { Stoppable } from "@millrace/base/lifecycle";
import type { Log } from "@millrace/base/log";
import type { Bus, BusSubscription } from "@millrace/proto/bus";
import {
  batchChannel,
  heartbeatChannel,
  openChannel,
  shardSubject,
  writerQueue,
} from "@millrace/proto/channels";
import type { IBatchReply, IBatchRequest, IOpenReply, IOpenRequest } from "@millrace/proto/pipeline";
import { LiveWriters } from "./live-writers.ts";

/** What a writer answers on the shards that are its own. */
export interface ShardHandlers {
  open(request: IOpenRequest): Promise<IOpenReply>;
  batch(request: IBatchRequest): Promise<IBatchReply>;
}

const heartbeatMs = 500;

/** A leaving writer serves on until the others have heard of it: two heartbeats. */
const handOverMs = 1_000;

/**
 * Serves the shards that rendezvous over live heartbeats gives to this writer. A new writer serves all until it has
 * heard of the others, a leaving one until they have heard of it: shards overlap rather than lie idle. Correctness
 * does not depend on any of it; the fence decides.
 */
export function startShards(
  handlers: ShardHandlers,
  world: { bus: Bus; clock: Clock; log: Log; writer: string; shards?: (count: number) => void },
): Stoppable {
  const { bus, clock, log, writer } = world;
  const live = new LiveWriters(writer);
  const served = new Map<number, readonly BusSubscription[]>();
  let names = "";
  let beat = 0;

  const reconcile = (): void => {
    const present = live.names(beat).join(" ");
    if (present === names) return;
    names = present;
    const own = live.ownShards(beat);
    for (const shard of own) {
      if (!served.has(shard)) served.set(shard, serveShard(shard, { bus, handlers }));
    }
    for (const [shard, subscriptions] of served) {
      if (own.has(shard)) continue;
      served.delete(shard);
      for (const subscription of subscriptions) void subscription.stop();
    }
    world.shards?.(served.size);
    log.info("shards", { writers: present, served: served.size });
  };
  const say = (draining: boolean): void => {
    bus.publish(heartbeatChannel, { subject: heartbeatChannel.name, message: { writer, draining } });
  };

  const listening = bus.subscribe(heartbeatChannel, heartbeatChannel.name, (heartbeat) => {
    const draining = heartbeat.draining ?? false;
    live.hear(heartbeat.writer ?? "", { draining, beat });
    reconcile();
  });
  reconcile();
  say(false);
  const stopBeating = every(clock, heartbeatMs, () => {
    beat += 1;
    say(false);
    reconcile();
  });

  return {
    name: "shards",
    stop: async () => {
      stopBeating();
      say(true);
      await listening.stop();
      const isAlone = live.names(beat).length === 1;
      if (!isAlone) await delay(clock, handOverMs);
      const rest = [...served.values()].flat();
      await Promise.all(rest.map((subscription) => subscription.stop()));
    },
  };
}

function serveShard(shard: number, by: { bus: Bus; handlers: ShardHandlers }): BusSubscription[] {
  const { bus, handlers } = by;
  const at = (channel: { name: string }) => ({ subject: shardSubject(channel, shard), queue: writerQueue });
  return [
    bus.serve(openChannel, at(openChannel), (request) => handlers.open(request)),
    bus.serve(batchChannel, at(batchChannel), (request) => handlers.batch(request)),
  ];
}
