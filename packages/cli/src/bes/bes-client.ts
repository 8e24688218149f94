import { readFileSync } from "node:fs";
import { type ChannelCredentials, Client, credentials, Metadata, type StatusObject } from "@grpc/grpc-js";
import { besService } from "@millrace/actors/front-door/bes-service";
import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { google } from "@millrace/proto/gen/bes";

/** Where to send, and as whom. */
export interface BesTarget {
  /** `grpc://host:port` or `grpcs://host:port`. */
  readonly backend: string;
  /** Empty: none. */
  readonly apiKey: string;
  /** PEM file of the authority that signed the server's certificate; empty: those the system trusts. */
  readonly tlsCa: string;
  /** PEM files for a server that wants the client's certificate; empty: none. */
  readonly tlsCertificate: string;
  readonly tlsKey: string;
}

/** How a call ended. Code 0 is OK. */
export interface CallEnd {
  readonly code: number;
  readonly details: string;
}

/** One event stream on its way. */
export interface BesStream {
  /** Resolves when more may be written; at once, as a rule. */
  send(request: Buffer): Promise<void>;
  /** Says that no more events come. */
  halfClose(): void;
  readonly ended: Promise<CallEnd>;
  cancel(): void;
}

/** A client with a TCP connection of its own, as every Bazel has. */
export interface BesClient {
  lifecycle(request: Buffer): Promise<CallEnd>;
  /** `onAck` hears the sequence number of each answer; 0 when it has none that can be read. */
  openStream(onAck: (sequence: number) => void): BesStream;
  close(): void;
}

const lifecycleDeadlineMs = 15_000;
const same = (bytes: Buffer): Buffer => bytes;
const { PublishBuildToolEventStreamResponse } = google.devtools.build.v1;

export function connectBes(target: BesTarget, clock: Clock): BesClient {
  const { address, channel } = addressOf(target);
  const client = new Client(address, channel, {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_send_message_length": -1,
  });
  const metadata = new Metadata();
  if (target.apiKey !== "") metadata.set("x-api-key", target.apiKey);
  return {
    lifecycle: (request) =>
      new Promise((resolve) => {
        const deadline = new Date(clock.now() + lifecycleDeadlineMs);
        const { path } = besService.PublishLifecycleEvent;
        client.makeUnaryRequest(path, same, same, request, metadata, { deadline }, (error) =>
          resolve(error === null ? { code: 0, details: "" } : { code: error.code, details: error.details }),
        );
      }),
    openStream: (onAck) => openStream(client, metadata, onAck),
    close: () => client.close(),
  };
}

function openStream(client: Client, metadata: Metadata, onAck: (sequence: number) => void): BesStream {
  const { path } = besService.PublishBuildToolEventStream;
  const call = client.makeBidiStreamRequest(path, same, same, metadata);
  // Its status says the same, once.
  call.on("error", () => {});
  call.on("data", (bytes: Buffer) => onAck(sequenceOf(bytes)));
  const ended = new Promise<CallEnd>((resolve) => {
    call.once("status", ({ code, details }: StatusObject) => resolve({ code, details }));
  });
  return {
    send: async (request) => {
      if (call.write(request)) return;
      await Promise.race([new Promise((resolve) => call.once("drain", resolve)), ended]);
    },
    halfClose: () => call.end(),
    ended,
    cancel: () => call.cancel(),
  };
}

function sequenceOf(answer: Buffer): number {
  try {
    return PublishBuildToolEventStreamResponse.decode(answer).sequenceNumber;
  } catch {
    return 0; // Not an acknowledgement of anything.
  }
}

function addressOf(target: BesTarget): { address: string; channel: ChannelCredentials } {
  const match = /^(grpcs?):\/\/([^/]+)\/?$/.exec(target.backend);
  const [, scheme, address] = match ?? [];
  if (address === undefined) {
    throw refused(`${target.backend} is no address: write grpc://host:port, or grpcs://host:port for TLS`);
  }
  if (scheme === "grpc") return { address, channel: credentials.createInsecure() };
  const [ca, key, certificate] = [target.tlsCa, target.tlsKey, target.tlsCertificate].map(readPem);
  return { address, channel: credentials.createSsl(ca ?? null, key ?? null, certificate ?? null) };
}

function readPem(file: string): Buffer | undefined {
  if (file === "") return undefined;
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new MillraceError({ remedy: "reject", code: "tls-file", message: `${file} cannot be read`, cause });
  }
}

function refused(message: string): MillraceError {
  return new MillraceError({ remedy: "reject", code: "bad-backend", message });
}
