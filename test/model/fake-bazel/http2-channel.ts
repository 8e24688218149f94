import { systemClock } from "@millrace/base/clock";
import { type BesChannel, type Headers, statusCode } from "./bes-channel.ts";
import { encodeHeaderBlock } from "./hpack.ts";
import { Http2Connection } from "./http2-connection.ts";
import { splitAddress } from "./tcp-relay.ts";

/**
 * gRPC by hand over plain TCP, for load, so that the server is measured and not the generator. Messages that are
 * written within a turn of the event loop share DATA frames and leave in one write, as netty merges what waits
 * under Bazel's client.
 */
export function openHttp2Channel(address: string): BesChannel {
  const at = splitAddress(address);
  let connection: Http2Connection | undefined;
  const connected = (): Http2Connection => {
    if (connection?.isOpen !== true) connection = new Http2Connection(at);
    return connection;
  };
  return {
    call: ({ path, message, headers, deadlineMs }) =>
      new Promise((resolve) => {
        const block = requestBlock({
          address,
          path,
          headers: { ...headers, "grpc-timeout": `${deadlineMs}m` },
        });
        const stream = connected().open(block, {
          onMessage: () => {},
          onEnd: (status) => {
            disarm();
            resolve(status);
          },
        });
        const disarm = systemClock.after(deadlineMs, () => {
          stream.cancel();
          resolve({ code: statusCode.deadlineExceeded, message: "Deadline Exceeded" });
        });
        stream.write(message);
        stream.halfClose();
      }),
    openStream: ({ path, headers, events }) =>
      connected().open(requestBlock({ address, path, headers }), events),
    cut: () => connection?.cut(),
    close: async () => connection?.close(),
  };
}

function requestBlock({
  address,
  path,
  headers,
}: {
  address: string;
  path: string;
  headers: Headers;
}): Buffer {
  return encodeHeaderBlock([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", address],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ...Object.entries(headers),
  ]);
}
