import type { HostLimits } from "@millrace/actors/host/hosted-actor";
import { ThreadHost } from "@millrace/actors/host/thread-host";
import type { FromThread } from "@millrace/actors/thread-messages";
import { ackStride } from "@millrace/actors/thread-messages";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import type { Dice } from "./dice.ts";
import { type Script, type SimProcess, startProcess } from "./script.ts";
import type { SimNetwork } from "./sim-bus.ts";
import type { SimConnection } from "./sim-client.ts";

/** Key of the HMAC over event 1, the same on all nodes. */
export const serverSecret = Uint8Array.of(1, 2, 3);

const limits: HostLimits = {
  batchEventsMax: 6,
  batchBytesMax: 4_096,
  batchDelayMs: 50,
  heldDelayMs: 1_000,
  inFlightBatchesMax: 4,
  inFlightBytesMax: 1_000_000,
  messageBytesMax: 4_000_000,
  outageHoldMaxMs: 600_000,
};

/** A front door with one worker thread: the real host around the real actors, on a scripted clock and network. */
export class SimNode {
  readonly process: SimProcess;
  private readonly host: ThreadHost;
  private readonly connections = new Map<number, SimConnection>();
  private readonly script: Script;

  constructor(name: string, world: { script: Script; network: SimNetwork; dice: Dice }) {
    this.process = startProcess(name);
    this.script = world.script;
    this.host = new ThreadHost(
      {
        bus: world.network.busOf(this.process),
        clock: world.script.clockOf(this.process),
        random: {
          bytes: (count) => world.dice.bytes(count),
          uuid: () => "unused",
          fraction: () => world.dice.fraction(),
        },
        zstd: { codec: "node:zlib", compress: async (b) => b.slice(), decompress: async (b) => b.slice() },
        blobs: {
          put: () => Promise.reject(new Error("nothing of a simulated build is large enough to be staged")),
        },
        log: silentLog,
        projectLarge: () => Promise.reject(new Error("no simulated event is large")),
        post: (message) => this.script.doIn(this.process, () => this.answer(message)),
        points: noFailPoints,
        soon: (action) => world.script.after(0, () => this.script.doIn(this.process, action)),
      },
      { nodeId: name, limits },
    );
  }

  /** A client's connection arrives. What it sends reaches the thread in order. */
  connect(connection: SimConnection): void {
    this.connections.set(connection.number, connection);
    this.tell(() =>
      this.host.handle({
        kind: "connected",
        connection: connection.number,
        project: connection.build.project,
        invocationId: connection.build.invocationId,
        buildId: connection.build.buildId,
        firstSequence: connection.firstSequence,
        serverSecret,
      }),
    );
  }

  send(connection: SimConnection, events: readonly { sequence: number; bytes: Uint8Array }[]): void {
    const arena = new Uint8Array(events.reduce((sum, event) => sum + event.bytes.length, 0));
    const meta: number[] = [];
    let at = 0;
    for (const event of events) {
      arena.set(event.bytes, at);
      at += event.bytes.length;
      meta.push(connection.number, event.sequence, event.bytes.length, 1);
    }
    this.tell(() => this.host.handle({ kind: "events", arena: arena.buffer, meta: Float64Array.from(meta) }));
  }

  halfClose(connection: SimConnection): void {
    this.tell(() => this.host.handle({ kind: "half-closed", connection: connection.number }));
  }

  /** The connection is gone; the thread hears of it later. */
  break(connection: SimConnection): void {
    this.connections.delete(connection.number);
    this.tell(() => this.host.handle({ kind: "broken", connection: connection.number }));
  }

  /** kill -9: every connection breaks. */
  crash(): void {
    this.process.isAlive = false;
    const open = [...this.connections.values()];
    this.connections.clear();
    for (const connection of open) connection.broke();
  }

  private tell(action: () => void): void {
    this.inbox.push(action);
    this.script.after(1, () => this.script.doIn(this.process, () => this.inbox.shift()?.()));
  }

  /** First in, first out, whatever order the dice give the wake-ups. */
  private readonly inbox: (() => void)[] = [];

  private answer(message: FromThread): void {
    if (message.kind === "acks") {
      for (let at = 0; at < message.entries.length; at += ackStride) {
        this.connections.get(message.entries[at] ?? -1)?.acked(message.entries[at + 1] ?? 0);
      }
    } else if (message.kind === "end") {
      const connection = this.connections.get(message.connection);
      this.connections.delete(message.connection);
      connection?.ended(message.status, message.message);
    }
  }
}
