import http2 from "node:http2";
import {
  type ChannelCredentials,
  type ClientDuplexStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type StatusObject,
} from "@grpc/grpc-js";
import { ackOf } from "./bes-messages.fixture.ts";
import { besService } from "./bes-service.ts";

const same = (bytes: Buffer): Buffer => bytes;
const Client = makeGenericClientConstructor(besService, "test");

/** How a call ended, as Bazel sees it. */
export interface Ending {
  readonly code: number;
  readonly details: string;
}

/** One stream of a grpc-js client, on a connection of its own. */
export class StreamClient {
  readonly acks: number[] = [];
  readonly ended: Promise<Ending>;
  /** Resolves when response headers are there. */
  readonly headers: Promise<void>;
  private readonly client: InstanceType<typeof Client>;
  private readonly call: ClientDuplexStream<Buffer, Buffer>;

  constructor(
    port: number,
    options: { apiKey?: string; channel?: ChannelCredentials; metadata?: Record<string, string> } = {},
  ) {
    this.client = new Client(`127.0.0.1:${port}`, options.channel ?? credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_send_message_length": -1,
      // Its TLS does not take an address for a name.
      ...(options.channel?._isSecure() === true ? { "grpc.ssl_target_name_override": "localhost" } : {}),
    });
    const metadata = new Metadata();
    if (options.apiKey !== undefined) metadata.set("x-api-key", options.apiKey);
    for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value);
    const { path } = besService.PublishBuildToolEventStream;
    this.call = this.client.makeBidiStreamRequest(path, same, same, metadata);
    this.call.on("data", (bytes: Buffer) => this.acks.push(ackOf(bytes)));
    this.call.on("error", () => {});
    // `once` of node:events would fail with the call's error, which says the same as its status.
    this.headers = new Promise((resolve) => {
      this.call.once("metadata", () => resolve());
    });
    this.ended = new Promise((resolve) => {
      this.call.once("status", (status: StatusObject) => {
        this.client.close();
        resolve({ code: status.code, details: status.details });
      });
    });
  }

  send(...requests: readonly Buffer[]): void {
    for (const bytes of requests) this.call.write(bytes);
  }

  /** Sends one and waits until the library has taken it. */
  sendSlowly(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.call.write(bytes, () => resolve());
    });
  }

  halfClose(): void {
    this.call.end();
  }

  cancel(): void {
    this.call.cancel();
  }

  close(): void {
    this.call.cancel();
    this.client.close();
  }
}

/** Calls PublishLifecycleEvent. */
export function lifecycleCall(port: number, at: { request: Buffer; apiKey?: string }): Promise<Ending> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  if (at.apiKey !== undefined) metadata.set("x-api-key", at.apiKey);
  return new Promise((resolve) => {
    const { path } = besService.PublishLifecycleEvent;
    const call = client.makeUnaryRequest(
      path,
      same,
      same,
      at.request,
      metadata,
      { deadline: 15_000 + Date.now() },
      () => {},
    );
    call.on("status", (status) => {
      client.close();
      resolve({ code: status.code, details: status.details });
    });
  });
}

/** A stream over bare HTTP/2: sends any bytes, and reads only when told to. */
export class RawStream {
  readonly session: http2.ClientHttp2Session;
  readonly stream: http2.ClientHttp2Stream;
  readonly chunks: Buffer[] = [];
  trailers: http2.IncomingHttpHeaders = {};
  hasHeaders = false;
  isClosed = false;

  constructor(port: number, options: { headers?: Record<string, string>; reads?: boolean } = {}) {
    this.session = http2.connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 1_000 });
    this.session.on("error", () => {});
    this.stream = this.session.request({
      ":method": "POST",
      ":path": besService.PublishBuildToolEventStream.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...options.headers,
    });
    this.stream.on("error", () => {});
    this.stream.on("response", (headers) => {
      this.hasHeaders = true;
      if (headers["grpc-status"] !== undefined) this.trailers = headers;
    });
    this.stream.on("trailers", (trailers) => {
      this.trailers = trailers;
    });
    this.stream.on("close", () => {
      this.isClosed = true;
    });
    if (options.reads !== false) this.stream.on("data", (chunk: Buffer) => this.chunks.push(chunk));
  }

  get status(): number | undefined {
    const value = this.trailers["grpc-status"];
    return value === undefined ? undefined : Number(value);
  }

  get message(): string {
    return decodeURIComponent(String(this.trailers["grpc-message"] ?? ""));
  }

  /** Every acknowledgement that has arrived whole. */
  get acks(): number[] {
    const bytes = Buffer.concat(this.chunks);
    const acks: number[] = [];
    for (let at = 0; at + 5 <= bytes.length; ) {
      const end = at + 5 + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      acks.push(ackOf(bytes.subarray(at + 5, end)));
      at = end;
    }
    return acks;
  }

  /** Cuts the TCP connection. */
  cut(): void {
    this.session.destroy();
  }
}
