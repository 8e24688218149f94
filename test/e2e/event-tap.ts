import { once } from "node:events";
import net from "node:net";

/** What happens when the nth message of one stream has passed. Each action happens once, in order. */
export interface TapAction {
  readonly atMessage: number;
  /** Cut the TCP connection after `run`. */
  readonly cut?: boolean;
  readonly run?: () => void;
}

/**
 * A TCP proxy that knows just enough HTTP/2 and gRPC to act when the nth message of one stream has passed.
 * Lifecycle calls carry one message each, so only an event stream reaches a count above 1.
 */
export interface EventTap {
  readonly port: number;
  /** Actions that have happened so far. */
  readonly happened: () => number;
  close(): Promise<void>;
}

export async function startEventTap(settings: {
  /** A function is asked anew for each connection. */
  targetPort: number | (() => number);
  actions: readonly TapAction[];
}): Promise<EventTap> {
  const left = [...settings.actions];
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const { targetPort } = settings;
    const upstream = net.connect(typeof targetPort === "number" ? targetPort : targetPort(), "127.0.0.1");
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    const counter = new MessageCounter();
    client.on("data", (chunk: Buffer) => {
      upstream.write(chunk);
      const count = counter.feed(chunk);
      for (let next = left[0]; next !== undefined && count >= next.atMessage; next = left[0]) {
        left.shift();
        next.run?.();
        if (next.cut === true) for (const socket of both) socket.resetAndDestroy();
      }
    });
    upstream.on("data", (chunk) => client.write(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    happened: () => settings.actions.length - left.length,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const prefaceBytes = 24;
const frameHeaderBytes = 9;
const dataFrame = 0;
const paddedFlag = 0x8;

/** Counts gRPC messages per HTTP/2 stream in the bytes of one client. */
class MessageCounter {
  private rest: Buffer = Buffer.alloc(0);
  private skip = prefaceBytes;
  private readonly streams = new Map<number, { prefix: Buffer; missing: number; count: number }>();

  /** Returns the highest count of any stream. */
  feed(chunk: Buffer): number {
    this.rest = Buffer.concat([this.rest, chunk]);
    if (this.skip > 0) {
      if (this.rest.length < this.skip) return 0;
      this.rest = this.rest.subarray(this.skip);
      this.skip = 0;
    }
    while (this.rest.length >= frameHeaderBytes) {
      const length = this.rest.readUIntBE(0, 3);
      if (this.rest.length < frameHeaderBytes + length) break;
      if (this.rest[3] === dataFrame) this.data(this.rest.subarray(0, frameHeaderBytes + length));
      this.rest = this.rest.subarray(frameHeaderBytes + length);
    }
    return Math.max(0, ...[...this.streams.values()].map((stream) => stream.count));
  }

  private data(frame: Buffer): void {
    const isPadded = ((frame[4] ?? 0) & paddedFlag) !== 0;
    const padding = isPadded ? (frame[frameHeaderBytes] ?? 0) : 0;
    const from = frameHeaderBytes + (isPadded ? 1 : 0);
    const id = frame.readUInt32BE(5) & 0x7fffffff;
    const stream = this.streams.get(id) ?? { prefix: Buffer.alloc(0), missing: 0, count: 0 };
    this.streams.set(id, stream);
    let payload = frame.subarray(from, frame.length - padding);
    while (payload.length > 0) {
      if (stream.missing > 0) {
        const taken = Math.min(stream.missing, payload.length);
        stream.missing -= taken;
        payload = payload.subarray(taken);
        if (stream.missing === 0) stream.count += 1;
        continue;
      }
      const taken = Math.min(5 - stream.prefix.length, payload.length);
      stream.prefix = Buffer.concat([stream.prefix, payload.subarray(0, taken)]);
      payload = payload.subarray(taken);
      if (stream.prefix.length < 5) continue;
      stream.missing = stream.prefix.readUInt32BE(1);
      stream.prefix = Buffer.alloc(0);
      if (stream.missing === 0) stream.count += 1;
    }
  }
}
