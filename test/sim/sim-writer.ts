import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import type { Bus } from "@millrace/proto/bus";
import { batchChannel, openChannel, shardSubject, writerQueue } from "@millrace/proto/channels";
import type { IBatchReply, IOpenReply } from "@millrace/proto/pipeline";
import { runGroupCommit } from "@millrace/writer/group-commit";
import { Inbox } from "@millrace/writer/inbox";
import { noMetrics } from "@millrace/writer/metrics";
import { readBatchRequest, readOpenRequest, type Work } from "@millrace/writer/work";
import type { Dice } from "./dice.ts";
import type { FaultCounter } from "./faults.ts";
import type { ModelDatabase } from "./model-database.ts";
import { modelStore } from "./model-store.ts";
import { type Script, type SimProcess, startProcess } from "./script.ts";
import type { SimNetwork } from "./sim-bus.ts";

/** Transactions that one writer has open at once. */
const lanes = 2;

/** A writer process: the real inbox and group commit on the model database. */
export class SimWriter {
  readonly process: SimProcess;
  private readonly database: ModelDatabase;

  constructor(
    name: string,
    world: {
      script: Script;
      network: SimNetwork;
      dice: Dice;
      faults: FaultCounter;
      database: ModelDatabase;
      shards: readonly number[];
    },
  ) {
    this.process = startProcess(name);
    this.database = world.database;
    const clock = world.script.clockOf(this.process);
    const limits = { inboxBytesMax: 1_000_000, groupBytesMax: 100_000, groupBatchesMax: 20 };
    const inbox = new Inbox(limits, clock);
    const random = {
      bytes: (count: number) => world.dice.bytes(count),
      uuid: () => `uuid-${world.dice.fraction()}`,
      fraction: () => world.dice.fraction(),
    };
    const store = modelStore({ ...world, process: this.process, isFaulty: () => world.network.faulty });
    for (let lane = 0; lane < lanes; lane += 1) {
      void runGroupCommit(inbox, {
        store,
        clock,
        random,
        resumeWithHole: false,
        points: noFailPoints,
        metrics: noMetrics,
        log: silentLog,
      });
    }
    serveShards(world.network.busOf(this.process), { inbox, shards: world.shards });
  }

  /** kill -9: what it had not committed has not happened. */
  crash(): void {
    this.process.isAlive = false;
    this.database.abortTransactionsOf(this.process);
  }
}

/** Every writer serves every shard: more overlap than there ever is, and the fence must bear it. */
function serveShards(bus: Bus, with_: { inbox: Inbox; shards: readonly number[] }): void {
  const ask = <A>(work: Work): Promise<A> =>
    new Promise((resolve) => {
      with_.inbox.offer(work, (reply) => resolve(reply as A));
    });
  for (const shard of with_.shards) {
    const at = (channel: { name: string }) => ({ subject: shardSubject(channel, shard), queue: writerQueue });
    bus.serve(openChannel, at(openChannel), (request) => ask<IOpenReply>(readOpenRequest(request)));
    bus.serve(batchChannel, at(batchChannel), (request) => ask<IBatchReply>(readBatchRequest(request)));
  }
}
