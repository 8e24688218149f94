import { readFileSync } from "node:fs";
import { Server, ServerCredentials, type ServerOptions } from "@grpc/grpc-js";
import type { Clock } from "@millrace/base/clock";
import { ConfigError } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import { HealthImplementation } from "grpc-health-check";
import { besService, besServiceName } from "./bes-service.ts";
import { DirectCall } from "./direct-call.ts";
import type { EventStreams } from "./event-streams.ts";
import type { BidirectionalCall } from "./grpc-call.ts";
import { http2StreamUnder } from "./http2-under-call.ts";
import type { LifecycleCalls } from "./lifecycle-calls.ts";
import { PlainCall } from "./plain-call.ts";
import type { Reach } from "./reach.ts";
import { addReflection } from "./reflection.ts";

export interface GrpcServerSettings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly messageBytesMax: number;
  /** HTTP/2 receive window of a stream; also what a stream that is not read from may hold beyond its budget. */
  readonly streamWindowBytes: number;
  /** Paths of PEM files; empty: no TLS. */
  readonly tlsCertificate: string;
  readonly tlsKey: string;
  /** Path of a PEM file; when given, clients need a certificate that it has signed. */
  readonly tlsClientCa: string;
}

export interface GrpcServerPorts {
  readonly streams: EventStreams;
  readonly lifecycle: LifecycleCalls;
  readonly clock: Clock;
  readonly reach: Reach;
}

/** Pings find dead peers and keep middleboxes from closing quiet streams. */
const keepaliveMs = 60_000;
const keepaliveTimeoutMs = 20_000;
/** A connection without a call is closed with GOAWAY after this; Bazel keeps one between commands. */
const idleConnectionMs = 3_600_000;
const callsPerConnectionMax = 4_096;
/** For lifecycle, health and reflection. */
const otherMessageBytesMax = 4 * 1024 * 1024;
/** HTTP/2's own default, with which every connection starts. */
const windowBytesDefault = 65_535;

/** The gRPC server of the front door: build events, health, reflection. */
export class GrpcServer {
  private readonly server: Server;
  private readonly health: HealthImplementation;
  private readonly settings: GrpcServerSettings;
  private readonly ports: GrpcServerPorts;
  private readonly widened = new WeakSet<object>();

  constructor(settings: GrpcServerSettings, ports: GrpcServerPorts) {
    this.settings = settings;
    this.ports = ports;
    this.server = new Server(serverOptions(settings, ports.reach.stream));
    this.health = new HealthImplementation({ "": "SERVING", [besServiceName]: "SERVING" });
    this.server.addService(besService, {
      PublishLifecycleEvent: ports.lifecycle.handle,
      PublishBuildToolEventStream: (call: BidirectionalCall) => this.streamCall(call),
    });
    this.health.addToServer(this.server);
    addReflection(this.server);
  }

  /** Starts to listen; resolves with the port. Fails with remedy `crash` when the address cannot be had. */
  listen(): Promise<number> {
    const { host, port } = this.settings;
    const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    return new Promise((resolve, reject) => {
      this.server.bindAsync(address, serverCredentials(this.settings), (error, bound) => {
        if (error === null) return resolve(bound);
        const message = `gRPC cannot listen on ${address}: another process may have the port`;
        reject(new MillraceError({ remedy: "crash", code: "grpc-bind", message, cause: error }));
      });
    });
  }

  /** Load balancers are told to send nobody here any more. */
  notServing(): void {
    this.health.setStatus("", "NOT_SERVING");
    this.health.setStatus(besServiceName, "NOT_SERVING");
  }

  /** Says GOAWAY on every connection and cuts what is left after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.ports.clock.after(graceMs, resolve);
      this.server.tryShutdown(() => {
        cancel();
        resolve();
      });
    });
    this.server.forceShutdown();
  }

  private streamCall(call: BidirectionalCall): void {
    const stream = this.ports.reach.stream ? http2StreamUnder(call) : undefined;
    if (stream === undefined) return this.ports.streams.begin((sink) => new PlainCall(call, sink));
    const { session } = stream;
    if (
      session !== undefined &&
      this.settings.streamWindowBytes > windowBytesDefault &&
      !this.widened.has(session)
    ) {
      this.widened.add(session);
      session.settings({ initialWindowSize: this.settings.streamWindowBytes });
      session.setLocalWindowSize(this.settings.streamWindowBytes);
    }
    const { clock, reach } = this.ports;
    const settings = {
      clock,
      messageBytesMax: this.settings.messageBytesMax,
      endsTogether: reach.trailers,
    };
    this.ports.streams.begin((sink) => new DirectCall({ call, stream }, { sink, settings }));
  }
}

function serverOptions(settings: GrpcServerSettings, isDirect: boolean): ServerOptions {
  return {
    // Events do not come through the library then, and nothing else is large.
    "grpc.max_receive_message_length": isDirect ? otherMessageBytesMax : settings.messageBytesMax,
    "grpc.max_concurrent_streams": callsPerConnectionMax,
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveTimeoutMs,
    "grpc.max_connection_idle_ms": idleConnectionMs,
    "grpc.enable_channelz": 0,
  };
}

function serverCredentials(settings: GrpcServerSettings): ServerCredentials {
  if (settings.tlsCertificate === "") return ServerCredentials.createInsecure();
  const clientCa = settings.tlsClientCa === "" ? null : readPem(settings.tlsClientCa);
  const pair = { cert_chain: readPem(settings.tlsCertificate), private_key: readPem(settings.tlsKey) };
  return ServerCredentials.createSsl(clientCa, [pair], clientCa !== null);
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`the TLS file ${path} cannot be read: ${errorText(error)}`]);
  }
}
