import type { SignalFactKind } from "@millrace/proto/channels";
import type {
  Build,
  RequestLogEntry,
  RequestUri,
  SignalQueue,
  ValidationFact,
  ValidationRequest,
} from "./entities.ts";
import type { NewMessage, Published } from "./queue/message.ts";

/** A fact for other programs, published from the outbox. */
export interface SignalFact {
  readonly project: string;
  readonly kind: SignalFactKind;
  /** The request's id. */
  readonly subject: string;
  readonly data: object;
}

/** Point reads. A read after a causally earlier write sees it. */
export interface SignalReads {
  queue(name: string): Promise<SignalQueue | undefined>;
  request(id: string): Promise<ValidationRequest | undefined>;
  build(id: string): Promise<Build | undefined>;
  requestUri(queue: string, uri: string): Promise<RequestUri | undefined>;
  fact(queue: string, uri: string, part: string): Promise<ValidationFact | undefined>;
}

/**
 * Writes. `create…` answers false when there is one already, `update…` when the stored version is not the one before
 * the given entity's (a missing row included); neither has changed anything then.
 */
export interface SignalWrites extends SignalReads {
  createQueue(queue: SignalQueue): Promise<boolean>;
  updateQueue(queue: SignalQueue): Promise<boolean>;
  createRequest(request: ValidationRequest): Promise<boolean>;
  updateRequest(request: ValidationRequest): Promise<boolean>;
  createBuild(build: Build): Promise<boolean>;
  updateBuild(build: Build): Promise<boolean>;
  createRequestUri(row: RequestUri): Promise<boolean>;
  updateRequestUri(row: RequestUri): Promise<boolean>;
  createFact(fact: ValidationFact): Promise<boolean>;
  publish(message: NewMessage): Promise<Published>;
  appendLog(entry: RequestLogEntry): Promise<void>;
  announce(fact: SignalFact): Promise<void>;
}

/** A build with its request. */
export interface PolledBuild {
  readonly build: Build;
  /** Undefined when the build's request is missing. */
  readonly request: ValidationRequest | undefined;
}

/**
 * The controllers' port to the database. Its failures are `MillraceError`s of remedy `retry`, or `reject` for what
 * fails again with the same values.
 *
 * `transact` runs the writes of a step. On PostgreSQL all of them happen or none; but controllers order their writes so
 * that every prefix of them is safe too (SPEC.md, "Order of writes"), which the simulation checks.
 */
export interface SignalStore extends SignalReads {
  /** What a poll reads; many at once are one statement. */
  polledBuild(buildId: string): Promise<PolledBuild | undefined>;
  transact<T>(work: (tx: SignalWrites) => Promise<T>): Promise<T>;
}
