import { once } from "node:events";
import net from "node:net";

/**
 * A TCP proxy that knows just enough HTTP/2 and gRPC to cut the connection when the nth message of one stream has
 * passed. Lifecycle calls carry one message each, so only an event stream reaches a count above 1.
 */
export interface EventCutter {
  readonly port: number;
  /** How often it has cut so far. */
  readonly cuts: () => number;
  close(): Promise<void>;
}

export async function startEventCutter(settings: {
  targetPort: number;
  /** Cut when this many messages of one stream have passed, once for each entry in order. */
  cutAt: readonly number[];
  /** Called at the cut, before the sockets are destroyed. */
  onCut?: () => void;
}): Promise<EventCutter> {
  const left = [...settings.cutAt];
  const sockets = new Set<net.Socket>();
  let cuts = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(settings.targetPort, "127.0.0.1");
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
      const next = left[0];
      if (next === undefined || counter.feed(chunk) < next) return;
      left.shift();
      cuts += 1;
      settings.onCut?.();
      for (const socket of both) socket.resetAndDestroy();
    });
    upstream.on("data", (chunk) => client.write(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cuts: () => cuts,
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
