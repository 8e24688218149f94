/** The gRPC status of a finished call. */
export interface CallStatus {
  readonly code: number;
  readonly message: string;
}

/** The codes FakeBazel has an opinion on (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const statusCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** An open PublishBuildToolEventStream call. */
export interface BesStream {
  /** Sends one request. False when `drained` should be awaited before the next. */
  write(request: Uint8Array): boolean;
  /** Resolves when there is room again, or the call is over. */
  drained(): Promise<void>;
  /** Resolves when what was written has gone to the operating system, or the call is over. */
  flushed(): Promise<void>;
  halfClose(): void;
  cancel(): void;
}

/** What comes back on a stream. `onEnd` comes once and last, unless the stream was cancelled here. */
export interface StreamEvents {
  /** The bytes are valid during the call only. */
  onMessage(message: Uint8Array): void;
  onEnd(status: CallStatus): void;
}

export type Headers = Readonly<Record<string, string>>;

/** One client's way to a server: a TCP connection of its own, opened when first needed and again after a break. */
export interface BesChannel {
  call(request: {
    path: string;
    message: Uint8Array;
    headers: Headers;
    deadlineMs: number;
  }): Promise<CallStatus>;
  openStream(request: { path: string; headers: Headers; events: StreamEvents }): BesStream;
  /** Breaks the TCP connection, as a network does. The next call opens a new one. */
  cut(): void;
  close(): Promise<void>;
}

const service = "/google.devtools.build.v1.PublishBuildEvent";
export const lifecyclePath = `${service}/PublishLifecycleEvent`;
export const streamPath = `${service}/PublishBuildToolEventStream`;
