import assert from "node:assert/strict";
import type { MessagePort } from "node:worker_threads";
import {
  type ConnectedMessage,
  type EndStatus,
  type EventsMessage,
  endStatus,
  eventKind,
  eventOverheadBytes,
  type FromThread,
  metaStride,
  type ThreadStart,
  type ToThread,
} from "../thread-messages.ts";

interface Received {
  readonly sequence: number;
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** One connection as the model sees it. */
export interface ModelConnection {
  readonly start: ConnectedMessage;
  readonly events: Received[];
  /** Received and not committed. */
  readonly pending: Received[];
  committed: number;
  hasHalfClosed: boolean;
  isBroken: boolean;
  isEnded: boolean;
}

/**
 * A worker thread that commits what it gets at the end of each tick, unless it is told to hold, and insists on its
 * side of the contract: one `connected` first, nothing behind `broken`, arenas that are exactly full.
 */
export class ModelThread {
  readonly connections = new Map<number, ModelConnection>();
  readonly messages: ToThread["kind"][] = [];
  isHolding = false;
  /** Keep the bytes of events; off where they would be too many. */
  keepsBytes = true;
  private readonly port: MessagePort;
  private entries: number[] = [];
  private readonly done = Promise.withResolvers<void>();

  constructor(port: MessagePort) {
    this.port = port;
    port.on("message", (message: ToThread) => this.handle(message));
  }

  /** Resolves after a drain; fails when the thread is told to die. */
  get finished(): Promise<void> {
    return this.done.promise;
  }

  /** The only connection there is. */
  get only(): ModelConnection {
    assert.equal(this.connections.size, 1);
    return [...this.connections.values()][0] as ModelConnection;
  }

  die(reason: string): void {
    this.port.close();
    this.done.reject(new Error(reason));
  }

  commitAll(): void {
    for (const number of this.connections.keys()) this.commit(number);
  }

  /** Commits what a connection has pending (all, or the first `countMax`) and acknowledges it. */
  commit(number: number, countMax = Number.POSITIVE_INFINITY): void {
    const connection = this.connection(number);
    const taken = connection.pending.splice(0, Math.min(countMax, connection.pending.length));
    const last = taken.at(-1);
    if (last === undefined) return;
    connection.committed = Math.max(connection.committed, last.sequence);
    const released = taken.reduce((sum, event) => sum + event.bytes.length + eventOverheadBytes, 0);
    this.ack(number, connection.committed, released);
    this.endIfComplete(connection);
  }

  end(number: number, status: EndStatus, message: string): void {
    this.connection(number).isEnded = true;
    this.flush();
    this.post({ kind: "end", connection: number, status, message });
  }

  post(message: FromThread): void {
    this.port.postMessage(message);
  }

  private connection(number: number): ModelConnection {
    const connection = this.connections.get(number);
    assert.ok(connection, `connection ${number} was announced`);
    return connection;
  }

  private handle(message: ToThread): void {
    this.messages.push(message.kind);
    switch (message.kind) {
      case "connected":
        assert.ok(!this.connections.has(message.connection), "a connection number is used once");
        this.connections.set(message.connection, newConnection(message));
        return;
      case "events":
        return this.events(message);
      case "large":
        assert.ok(message.bytes.length > 1024 * 1024, "a large event is above 1 MB");
        this.take(message.connection, {
          sequence: message.sequence,
          kind: message.event,
          bytes: message.bytes,
        });
        return this.turn([message.connection]);
      case "half-closed": {
        const connection = this.connection(message.connection);
        assert.ok(!connection.isBroken && !connection.hasHalfClosed, "half-closed once, and before broken");
        connection.hasHalfClosed = true;
        return this.endIfComplete(connection);
      }
      case "broken": {
        const connection = this.connection(message.connection);
        assert.ok(!connection.isBroken, "broken once");
        connection.isBroken = true;
        return this.turn([message.connection]);
      }
      case "drain":
        return this.drain();
      case "crash":
        return this.die("a test has this thread fail");
    }
  }

  private events({ arena, meta }: EventsMessage): void {
    const touched = new Set<number>();
    let offset = 0;
    for (let at = 0; at < meta.length; at += metaStride) {
      const [number = 0, sequence = 0, length = 0, kind = 0] = meta.subarray(at, at + metaStride);
      this.take(number, { sequence, kind, bytes: new Uint8Array(arena, offset, length) });
      touched.add(number);
      offset += length;
    }
    assert.equal(offset, arena.byteLength, "an arena is exactly full");
    this.turn([...touched]);
  }

  private take(number: number, event: Received): void {
    const connection = this.connection(number);
    assert.ok(!connection.isBroken, "no event comes after broken");
    assert.ok(!connection.hasHalfClosed, "no event comes after the half-close");
    const kept = this.keepsBytes ? event : { ...event, bytes: { length: event.bytes.length } as Uint8Array };
    connection.events.push(kept);
    connection.pending.push(kept);
  }

  private turn(numbers: readonly number[]): void {
    if (this.isHolding) return;
    for (const number of numbers) this.commit(number);
  }

  private endIfComplete(connection: ModelConnection): void {
    const isFinished = connection.events.some((event) => event.kind === eventKind.streamFinished);
    if (!isFinished || connection.pending.length > 0 || !connection.hasHalfClosed) return;
    if (connection.isEnded || connection.isBroken) return;
    this.end(connection.start.connection, endStatus.ok, "");
  }

  private ack(number: number, to: number, released: number): void {
    this.entries.push(number, to, released);
    if (this.entries.length === 3) setImmediate(() => this.flush());
  }

  private flush(): void {
    if (this.entries.length === 0) return;
    this.post({ kind: "acks", entries: Float64Array.from(this.entries) });
    this.entries = [];
  }

  private drain(): void {
    for (const [number, connection] of this.connections) {
      if (connection.isEnded) continue;
      // What is not committed is released without being acknowledged.
      const released = connection.pending.splice(0).reduce((sum, one) => sum + one.bytes.length + 256, 0);
      if (released > 0) this.ack(number, 0, released);
      if (!connection.isBroken) this.end(number, endStatus.unavailable, "the model is restarting");
    }
    this.flush();
    setImmediate(() => this.done.resolve());
  }
}

function newConnection(start: ConnectedMessage): ModelConnection {
  return {
    start,
    events: [],
    pending: [],
    committed: start.firstSequence - 1,
    hasHalfClosed: false,
    isBroken: false,
    isEnded: false,
  };
}

/** The model as the task of a real worker thread. */
export default function runModelThread({ port }: ThreadStart): Promise<void> {
  return new ModelThread(port).finished;
}
