import { once } from "node:events";
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  status,
} from "@grpc/grpc-js";
import { google } from "@millrace/proto/gen/bes";
import { decodeRequest } from "../decode.ts";
import { lifecyclePath, streamPath } from "./bes-channel.ts";

const { PublishBuildToolEventStreamResponse } = google.devtools.build.v1;

/** One stream as a behaviour sees it. */
export interface ServedStream {
  /** 1 for the first stream the server sees. */
  readonly number: number;
  ack(...sequences: number[]): void;
  /** Sends bytes that are no acknowledgement. */
  babble(): void;
  /** Ends the stream with OK. */
  endOk(): void;
  fail(code: number, message?: string): void;
}

/** How the server answers: called for each event and at half-close. */
export interface Behaviour {
  onEvent?(sequence: number, stream: ServedStream): void;
  /** The same, with the bytes that came. */
  onRequest?(request: Buffer, stream: ServedStream): void;
  onHalfClose?(stream: ServedStream, received: readonly number[]): void;
  /** Status code of the nth lifecycle call (from 1); 0 is OK. */
  lifecycle?(call: number): number;
}

/** A server of the BES over stock @grpc/grpc-js that does what a test tells it. */
export interface ScriptedServer {
  readonly address: string;
  /** Sequence numbers received, by stream. */
  readonly received: readonly (readonly number[])[];
  readonly lifecycleCalls: number;
  /** The header x-api-key of every call, in order; "" where there was none. */
  readonly apiKeys: readonly string[];
  /** Sends GOAWAY on every connection; open streams are still served. */
  goAway(): void;
  close(): void;
}

export async function startScriptedServer(behaviour: Behaviour): Promise<ScriptedServer> {
  const received: number[][] = [];
  const apiKeys: string[] = [];
  let lifecycleCalls = 0;
  const server = new Server();
  const onLifecycle: handleUnaryCall<Buffer, Buffer> = (call, answer) => {
    lifecycleCalls += 1;
    apiKeys.push(call.metadata.get("x-api-key").join());
    const code = behaviour.lifecycle?.(lifecycleCalls) ?? status.OK;
    if (code === status.OK) answer(null, Buffer.alloc(0));
    else answer({ code, details: "as the test says" });
  };
  server.addService(
    { lifecycle: method(lifecyclePath, false), stream: method(streamPath, true) },
    {
      lifecycle: onLifecycle,
      stream: (call: ServerDuplexStream<Buffer, Buffer>) => {
        apiKeys.push(call.metadata.get("x-api-key").join());
        const numbers: number[] = [];
        received.push(numbers);
        serve(call, { behaviour, numbers, number: received.length });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    address: `127.0.0.1:${port}`,
    received,
    apiKeys,
    get lifecycleCalls() {
      return lifecycleCalls;
    },
    goAway: () => server.drain(`127.0.0.1:${port}`, 60_000),
    close: () => server.forceShutdown(),
  };
}

function serve(
  call: ServerDuplexStream<Buffer, Buffer>,
  of: { behaviour: Behaviour; numbers: number[]; number: number },
): void {
  let isOver = false;
  const stream: ServedStream = {
    number: of.number,
    ack: (...sequences) => {
      for (const sequenceNumber of sequences) {
        if (!isOver)
          call.write(PublishBuildToolEventStreamResponse.encode({ sequenceNumber }).finish() as Buffer);
      }
    },
    babble: () => {
      call.write(Buffer.from([0x0a, 0xff]));
    },
    endOk: () => {
      if (!isOver) call.end();
      isOver = true;
    },
    fail: (code, details = "as the test says") => {
      if (!isOver) call.emit("error", { code, details });
      isOver = true;
    },
  };
  call.on("data", (request: Buffer) => {
    if (isOver) return;
    const { sequence } = decodeRequest(request);
    of.numbers.push(sequence);
    of.behaviour.onRequest?.(request, stream);
    of.behaviour.onEvent?.(sequence, stream);
  });
  call.on("end", () => of.behaviour.onHalfClose?.(stream, of.numbers));
  call.on("cancelled", () => {
    isOver = true;
  });
  call.on("error", () => {});
}

function method(path: string, streams: boolean): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer) => bytes;
  return {
    path,
    requestStream: streams,
    responseStream: streams,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

/** A port on which nothing listens. */
export async function unusedAddress(): Promise<string> {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
