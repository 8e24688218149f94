import { type Clock, systemClock } from "@millrace/base/clock";
import { readSettings } from "@millrace/base/config";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { blobSettings } from "@millrace/blobs/settings";
import type { ThreadSettings } from "../thread-messages.ts";
import { FrontDoor, type FrontDoorSettings } from "./front-door.ts";
import { ModelThread } from "./model-thread.fixture.ts";
import { ModelWriters } from "./model-writers.fixture.ts";
import { noReach, type Reach } from "./reach.ts";
import { ThreadPool, type ThreadRunner } from "./thread-pool.ts";

const MiB = 1024 * 1024;

export const threadSettings: ThreadSettings = {
  failPoint: undefined,
  natsUrl: "",
  nodeId: "node",
  blobs: readSettings(blobSettings, {}),
  logLevel: "error",
  batchEventsMax: 500,
  batchBytesMax: 256 * 1024,
  batchDelayMs: 50,
  inFlightBatchesMax: 4,
  inFlightBytesMax: MiB,
  messageBytesMax: 8 * MiB,
  outageHoldMaxMs: 600_000,
};

export interface DoorOptions {
  /** By default all that is possible; false: the public interfaces alone. */
  readonly reach?: Partial<Reach> | false;
  readonly threads?: number;
  readonly clock?: Clock;
  readonly outageHoldMaxMs?: number;
  readonly drainDeadlineMs?: number;
  readonly budget?: Partial<FrontDoorSettings["budget"]>;
  readonly grpc?: Partial<FrontDoorSettings["grpc"]>;
  readonly run?: ThreadRunner;
}

/** A front door on a free port with model threads and model writers behind it. */
export class TestDoor {
  readonly port: number;
  readonly door: FrontDoor;
  readonly pool: ThreadPool;
  readonly writers: ModelWriters;
  /** In the order of their starts: a restarted thread is a new one. */
  readonly threads: ModelThread[];
  private isStopped = false;

  private constructor(parts: Pick<TestDoor, "port" | "door" | "pool" | "writers" | "threads">) {
    this.port = parts.port;
    this.door = parts.door;
    this.pool = parts.pool;
    this.writers = parts.writers;
    this.threads = parts.threads;
  }

  static async open(options: DoorOptions = {}): Promise<TestDoor> {
    const clock = options.clock ?? systemClock;
    const writers = new ModelWriters(clock);
    const threads: ModelThread[] = [];
    const runModel: ThreadRunner = ({ port }, signal) => {
      const thread = new ModelThread(port);
      threads.push(thread);
      signal.addEventListener("abort", () => thread.die("killed"));
      return thread.finished;
    };
    const pool = new ThreadPool(
      { threads: options.threads ?? 1, thread: threadSettings },
      { run: options.run ?? runModel, clock, log: silentLog },
    );
    pool.start();
    const door = new FrontDoor(doorSettings(options), {
      bus: writers.bus,
      ingest: pool,
      clock,
      random: systemRandom,
      log: silentLog,
      points: noFailPoints,
      reach: options.reach === false ? noReach : { stream: true, trailers: true, ...options.reach },
    });
    return new TestDoor({ port: await door.start(), door, pool, writers, threads });
  }

  get thread(): ModelThread {
    return this.threads.at(-1) as ModelThread;
  }

  /** Drains; a second call does nothing. */
  async stop(): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    await this.door.drain();
  }
}

function doorSettings(options: DoorOptions): FrontDoorSettings {
  return {
    grpc: {
      host: "127.0.0.1",
      port: 0,
      messageBytesMax: 100 * MiB + 64 * 1024,
      streamWindowBytes: 65_535,
      tlsCertificate: "",
      tlsKey: "",
      tlsClientCa: "",
      ...options.grpc,
    },
    budget: {
      streamBytesMax: 4 * MiB,
      projectBytesMax: 384 * MiB,
      sharedBytesMax: 4096 * MiB,
      processBytesMax: 512 * MiB,
      largeBytesMax: 192 * MiB,
      ...options.budget,
    },
    outageHoldMaxMs: options.outageHoldMaxMs ?? 600_000,
    drainDeadlineMs: options.drainDeadlineMs ?? 200,
  };
}

/** Waits for a condition; the test's own timeout bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
