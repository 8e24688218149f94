import type { StreamIdentity } from "@millrace/proto/bes/identity";
import { invocationIdBytesMax } from "@millrace/proto/tokens";
import type { Malformed } from "@millrace/proto/wire/field-scanner";
import { type EndStatus, endStatus } from "../thread-messages.ts";
import type { CallFault } from "./stream-call.ts";

/** How a stream is ended, and what its user reads in Bazel's output. */
export interface Refusal {
  readonly status: EndStatus;
  readonly message: string;
}

// It comes back with every acknowledgement.
const buildIdBytesMax = 1_024;

function invalid(message: string): Refusal {
  return { status: endStatus.invalidArgument, message };
}

/** What is wrong with the name of a stream, if anything. */
export function checkIdentity(stream: StreamIdentity): Refusal | undefined {
  if (stream.invocationId === "") {
    return invalid(
      "ordered_build_event.stream_id.invocation_id is missing: a stream needs the id of its invocation",
    );
  }
  const idBytes = Buffer.byteLength(stream.invocationId);
  if (idBytes > invocationIdBytesMax) {
    return invalid(`invocation_id has ${idBytes} bytes; at most ${invocationIdBytesMax} are allowed`);
  }
  const buildIdBytes = Buffer.byteLength(stream.buildId);
  if (buildIdBytes > buildIdBytesMax) {
    return invalid(`build_id has ${buildIdBytes} bytes; at most ${buildIdBytesMax} are allowed`);
  }
  // Text in PostgreSQL cannot hold it.
  if (stream.invocationId.includes("\0") || stream.buildId.includes("\0")) {
    return invalid("invocation_id and build_id must not contain the character U+0000");
  }
  return undefined;
}

/** What is wrong with a sequence number by itself, if anything. Its place in the stream is the actor's business. */
export function checkSequence(sequence: number): Refusal | undefined {
  if (sequence >= 1 && sequence <= Number.MAX_SAFE_INTEGER) return undefined;
  return invalid(`sequence_number is ${sequence}; numbers start at 1`);
}

/** @param at place of the message in this connection, from 1 */
export function malformedMessage(malformed: Malformed, at: { message: number; bytes: number }): Refusal {
  return invalid(
    `message ${at.message} of this stream (${at.bytes} bytes) is not a PublishBuildToolEventStreamRequest: ${malformed.reason} at byte ${malformed.offset}`,
  );
}

export const streamIdChanged = invalid(
  "the stream_id is not that of this stream's first message; every stream needs its own call",
);

export const nothingSent = invalid("the client closed its side without sending an event");

export const draining: Refusal = {
  status: endStatus.unavailable,
  message: "the server is restarting: come back",
};

export const threadDied: Refusal = {
  status: endStatus.unavailable,
  message: "the worker thread of this stream died and is being restarted: come back",
};

export const outOfMemory: Refusal = {
  status: endStatus.resourceExhausted,
  message: "the server's memory for events that are not stored yet is used up: come back",
};

export const stalledMessage: Refusal = {
  status: endStatus.unavailable,
  message: "a message stopped arriving in its middle while others wait for its memory: come back",
};

export function keyUnanswered(heldMs: number): Refusal {
  return {
    status: endStatus.unavailable,
    message: `nobody could check the API key for ${Math.round(heldMs / 1_000)} s: storage is away`,
  };
}

export function faultyStream(fault: CallFault, messageBytesMax: number): Refusal {
  switch (fault.kind) {
    case "too-large":
      return {
        status: endStatus.resourceExhausted,
        message: `a message of ${fault.bytes} bytes is larger than this server takes (${messageBytesMax}, setting MILLRACE_MESSAGE_BYTES_MAX)`,
      };
    case "bad-prefix":
      return invalid(`this is not a stream of gRPC messages: one begins with byte ${fault.flag}`);
    case "cut-off":
      return invalid("the client closed its side in the middle of a message");
    case "bad-compression":
      return invalid(
        `a compressed message cannot be expanded (${fault.reason}): gzip and deflate are known, and a message may grow 64-fold`,
      );
  }
}
