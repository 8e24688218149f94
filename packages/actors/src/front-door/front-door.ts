import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import type { Bus } from "@millrace/proto/bus";
import type { IngestFailPoints } from "../fail-point-names.ts";
import { type BudgetLimits, ByteBudget } from "./byte-budget.ts";
import { EventStreams } from "./event-streams.ts";
import { GrpcServer, type GrpcServerSettings } from "./grpc-server.ts";
import type { Ingest } from "./ingest.ts";
import { KeyDesk } from "./key-desk.ts";
import { LifecycleCalls } from "./lifecycle-calls.ts";
import type { Reach } from "./reach.ts";

export interface FrontDoorSettings {
  readonly grpc: GrpcServerSettings;
  readonly budget: BudgetLimits;
  readonly outageHoldMaxMs: number;
  readonly drainDeadlineMs: number;
}

export interface FrontDoorPorts {
  readonly bus: Pick<Bus, "request">;
  /** The worker threads, or a model of them. `drain` resolves when all have finished or been killed. */
  readonly ingest: Ingest & { drain(deadlineMs: number): Promise<void> };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly points: IngestFailPoints;
  /** What `checkReach` found. */
  readonly reach: Reach;
}

/** The last part of a drain, in which clients that have nothing to be acknowledged are sent away one by one. */
const sendAwayMaxMs = 2_000;
const closeGraceMs = 1_000;

/** The ingest process's face to Bazel: takes build event streams and hands them to the worker threads. */
export class FrontDoor {
  readonly streams: EventStreams;
  readonly keys: KeyDesk;
  readonly lifecycle: LifecycleCalls;
  readonly budget: ByteBudget;
  private readonly server: GrpcServer;
  private readonly settings: FrontDoorSettings;
  private readonly ports: FrontDoorPorts;
  private isServing = false;

  constructor(settings: FrontDoorSettings, ports: FrontDoorPorts) {
    const { clock, log, ingest } = ports;
    this.settings = settings;
    this.ports = ports;
    this.budget = new ByteBudget(settings.budget);
    this.keys = new KeyDesk(ports);
    this.lifecycle = new LifecycleCalls({ bus: ports.bus, keys: this.keys, clock });
    this.streams = new EventStreams({
      budget: this.budget,
      ingest,
      keys: this.keys,
      clock,
      log,
      points: ports.points,
      limits: {
        messageBytesMax: settings.grpc.messageBytesMax,
        outageHoldMaxMs: settings.outageHoldMaxMs,
      },
    });
    this.server = new GrpcServer(settings.grpc, {
      streams: this.streams,
      lifecycle: this.lifecycle,
      clock,
      reach: ports.reach,
    });
  }

  /** True while new streams are welcome: never a question of the database. */
  get isReady(): boolean {
    return this.isServing;
  }

  /** Resolves with the port once calls are taken. */
  async start(): Promise<number> {
    const port = await this.server.listen();
    this.isServing = true;
    return port;
  }

  /**
   * Takes no new streams, lets the threads acknowledge what is committed and end their streams, and ends the rest
   * at the deadline. Never fails.
   */
  async drain(): Promise<void> {
    this.isServing = false;
    this.server.notServing();
    this.streams.startDraining();
    const { drainDeadlineMs } = this.settings;
    const spreadMs = Math.min(sendAwayMaxMs, drainDeadlineMs / 2);
    const threads = this.ports.ingest.drain(drainDeadlineMs);
    await this.streams.empty(drainDeadlineMs - spreadMs);
    await this.streams.sendAway(spreadMs);
    await threads;
    await this.server.close(closeGraceMs);
  }
}
