/**
 * A BES server that acknowledges at once and stores nothing, to measure the generator itself: its own CPU is not counted,
 * the generator's is in `generatorCpuMicrosPerEvent`.
 *
 *   node bench/load/ack-server.ts [port 0]      prints `host:port`
 */
import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { google } from "@millrace/proto/gen/bes";
import { GrpcUnframer, grpcPrefix } from "@millrace/test/model/fake-bazel/grpc-frames";

const { PublishBuildToolEventStreamResponse } = google.devtools.build.v1;
const streamMethod = "/PublishBuildToolEventStream";

// As long as the real ones: three names, the number behind them.
const streamId = {
  buildId: "00000000-0000-4000-8000-000000000000",
  invocationId: "00000000-0000-4000-8000-000000000000",
  component: 3,
};

const windowBytes = 4 << 20;
const emptyMessage = grpcPrefix(0);

function serve(stream: ServerHttp2Stream, path: string): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.on("error", () => {});
  if (!path.endsWith(streamMethod)) {
    stream.resume();
    stream.on("end", () => stream.end(emptyMessage));
    return;
  }
  const unframer = new GrpcUnframer();
  let received = 0;
  let acked = 0;
  const acks = (): Buffer => {
    const parts: Uint8Array[] = [];
    while (acked < received) {
      acked += 1;
      const ack = PublishBuildToolEventStreamResponse.encode({ streamId, sequenceNumber: acked }).finish();
      parts.push(grpcPrefix(ack.length), ack);
    }
    return Buffer.concat(parts);
  };
  stream.on("data", (chunk: Buffer) => {
    if (received === acked) {
      setImmediate(() => {
        if (acked < received && stream.writable) stream.write(acks());
      });
    }
    received += unframer.push(chunk).length;
  });
  stream.on("end", () => stream.end(acks()));
}

/** Starts the server on 127.0.0.1; port 0 is a free one. */
export async function startAckServer(port: number): Promise<{ address: string; close(): void }> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { initialWindowSize: windowBytes } });
  server.on("session", (session) => {
    sessions.add(session);
    session.setLocalWindowSize(windowBytes);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => serve(stream, headers[":path"] ?? ""));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const { address } = await startAckServer(Number(process.argv[2] ?? 0));
  console.log(address);
}
