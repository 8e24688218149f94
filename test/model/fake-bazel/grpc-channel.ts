import { Client, type ClientDuplexStream, credentials, Metadata, type StatusObject } from "@grpc/grpc-js";
import type { BesChannel, BesStream, CallStatus, Headers, StreamEvents } from "./bes-channel.ts";
import { startRelay } from "./tcp-relay.ts";

// As large as the servers under test accept; the client's own default would refuse nothing it sends anyway.
const channelOptions = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.max_send_message_length": -1,
  "grpc.max_receive_message_length": -1,
  "grpc.initial_reconnect_backoff_ms": 20,
  "grpc.min_reconnect_backoff_ms": 20,
  "grpc.max_reconnect_backoff_ms": 100,
};

/**
 * A stock @grpc/grpc-js client with a connection of its own. It offers no way to its socket, so the connection goes
 * through a relay, which is what `cut` breaks; without `cuttable` it goes straight.
 */
export async function openGrpcChannel(address: string, options: { cuttable: boolean }): Promise<BesChannel> {
  const relay = options.cuttable ? await startRelay(address) : undefined;
  const client = new Client(relay?.address ?? address, credentials.createInsecure(), channelOptions);
  return {
    call: ({ path, message, headers, deadlineMs }) =>
      new Promise((resolve) => {
        const deadline = { deadline: new Date(Date.now() + deadlineMs) };
        client.makeUnaryRequest(path, same, same, message, metadataOf(headers), deadline, (error) => {
          resolve(error === null ? { code: 0, message: "" } : { code: error.code, message: error.details });
        });
      }),
    openStream: ({ path, headers, events }) =>
      openStream(client.makeBidiStreamRequest(path, same, same, metadataOf(headers)), events),
    cut: () => relay?.cut(),
    close: async () => {
      client.close();
      await relay?.close();
    },
  };
}

function openStream(call: ClientDuplexStream<Buffer, Buffer>, events: StreamEvents): BesStream {
  let isOver = false;
  let wake = (): void => {};
  let lastWrite = Promise.resolve();
  const end = (status: CallStatus): void => {
    wake();
    if (!isOver) events.onEnd(status);
    isOver = true;
  };
  call.on("data", (message: Buffer) => {
    if (!isOver) events.onMessage(message);
  });
  call.on("drain", () => wake());
  call.on("error", () => {}); // The status event says the same.
  call.on("status", ({ code, details }: StatusObject) => end({ code, message: details }));
  return {
    write: (request) => {
      if (isOver) return true;
      let written = (): void => {};
      lastWrite = new Promise((resolve) => {
        written = resolve;
      });
      return call.write(Buffer.from(request), () => written());
    },
    drained: () =>
      new Promise((resolve) => {
        if (isOver || !call.writableNeedDrain) resolve();
        else wake = resolve;
      }),
    flushed: () => {
      const over = new Promise<void>((resolve) => call.once("status", () => resolve()));
      return isOver ? Promise.resolve() : Promise.race([lastWrite, over]);
    },
    halfClose: () => call.end(),
    cancel: () => {
      isOver = true;
      wake();
      call.cancel();
    },
  };
}

function metadataOf(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function same(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
}
