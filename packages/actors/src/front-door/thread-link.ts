import { type MessagePort, receiveMessageOnPort, type Transferable } from "node:worker_threads";
import { assert, unreachable } from "@millrace/base/assert";
import type { PeekedRequest } from "@millrace/proto/bes/peek";
import {
  type AcksMessage,
  ackStride,
  type FromThread,
  largeEventBytes,
  type ToThread,
} from "../thread-messages.ts";
import { Arena, largeEvent } from "./arena.ts";
import type { ConnectionStart, IngestListener, Lane } from "./ingest.ts";

/** An arena leaves when it is this full, or at the end of the tick. */
const arenaBytesMax = 64 * 1024;

/** What a link counts, from the start of the process. */
export interface LinkCounters {
  events: number;
  eventBytes: number;
  arenas: number;
  largeEvents: number;
}

/** The front door's end of the port to one running worker thread. A restarted thread gets a new link. */
export class ThreadLink {
  private readonly port: MessagePort;
  private readonly counters: LinkCounters;
  private readonly onStats: (counters: Readonly<Record<string, number>>) => void;
  private readonly listeners = new Map<number, IngestListener>();
  private readonly arena = new Arena();
  private isFlushAsked = false;
  private isClosed = false;
  private readonly flushSoon = (): void => {
    this.isFlushAsked = false;
    this.flush();
  };

  constructor(
    port: MessagePort,
    to: { counters: LinkCounters; onStats: (counters: Readonly<Record<string, number>>) => void },
  ) {
    this.port = port;
    this.counters = to.counters;
    this.onStats = to.onStats;
    port.on("message", (message: FromThread) => this.handle(message));
  }

  connect(start: ConnectionStart, listener: IngestListener): Lane {
    const { connection } = start;
    assert(!this.listeners.has(connection), "a connection number is used once");
    this.listeners.set(connection, listener);
    this.post({ kind: "connected", ...start });
    return {
      event: (request) => this.event(connection, request),
      halfClosed: () => this.post({ kind: "half-closed", connection }),
      broken: () => this.post({ kind: "broken", connection }),
      close: () => this.listeners.delete(connection),
    };
  }

  drain(): void {
    this.post({ kind: "drain" });
  }

  /** For tests. */
  crash(): void {
    this.post({ kind: "crash" });
  }

  /** The thread is gone: every connection that it had is told so. */
  lose(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.port.removeAllListeners("message");
    // What the thread said before it ended may still lie in the port: acknowledgements of what is committed.
    for (
      let last = receiveMessageOnPort(this.port);
      last !== undefined;
      last = receiveMessageOnPort(this.port)
    ) {
      this.handle(last.message as FromThread);
    }
    this.port.close();
    const lost = [...this.listeners.values()];
    this.listeners.clear();
    for (const listener of lost) listener.lost();
  }

  private event(connection: number, request: PeekedRequest): void {
    if (this.isClosed) return;
    const length = request.eventEnd - request.eventStart;
    this.counters.events += 1;
    this.counters.eventBytes += length;
    if (length > largeEventBytes) {
      this.counters.largeEvents += 1;
      const message = largeEvent(connection, request);
      return this.post(message, [message.bytes.buffer as ArrayBuffer]);
    }
    this.arena.add(connection, request);
    if (this.arena.bytes >= arenaBytesMax) return this.flush();
    if (this.isFlushAsked) return;
    this.isFlushAsked = true;
    setImmediate(this.flushSoon);
  }

  private flush(): void {
    if (this.arena.isEmpty || this.isClosed) return;
    const message = this.arena.pack();
    this.counters.arenas += 1;
    this.port.postMessage(message, [message.arena, message.meta.buffer as ArrayBuffer]);
  }

  /** Everything else stays behind the events that came before it. */
  private post(message: ToThread, transfer: Transferable[] = []): void {
    if (this.isClosed) return;
    this.flush();
    this.port.postMessage(message, transfer);
  }

  private handle(message: FromThread): void {
    switch (message.kind) {
      case "acks":
        return this.acks(message);
      case "ack-again":
        return this.listeners.get(message.connection)?.ackedAgain(message.sequence);
      case "end":
        return this.listeners.get(message.connection)?.ended(message.status, message.message);
      case "stats":
        return this.onStats(message.counters);
      default:
        return unreachable(message);
    }
  }

  private acks({ entries }: AcksMessage): void {
    for (let at = 0; at < entries.length; at += ackStride) {
      const listener = this.listeners.get(entries[at] as number);
      listener?.acked(entries[at + 1] as number, entries[at + 2] as number);
    }
  }
}
