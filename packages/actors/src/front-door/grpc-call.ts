import { type Metadata, Metadata as MetadataClass, type ServerDuplexStream } from "@grpc/grpc-js";
import { type EndStatus, endStatus } from "../thread-messages.ts";

export type BidirectionalCall = ServerDuplexStream<Buffer, Buffer>;

/** Bazel takes 8 KB of headers together (seen in its HTTP/2 settings). */
const statusTextMax = 1_000;

/** The caller's API key. */
export function apiKeyOf(metadata: Metadata): string | undefined {
  const [value] = metadata.get("x-api-key");
  return value === undefined ? undefined : value.toString();
}

/** Clients may time out when headers come only with the first acknowledgement. */
export function sendHeaders(call: BidirectionalCall): void {
  call.sendMetadata(new MetadataClass());
}

/** Text that can travel as `grpc-message`: no lone surrogates (they make the library throw), not too long. */
export function statusText(message: string): string {
  return message.slice(0, statusTextMax).toWellFormed();
}

/** A status as it stands in trailers. */
export function statusTrailers({ status, message }: Status): [name: string, value: string][] {
  const code: [string, string] = ["grpc-status", String(status)];
  return message === "" ? [code] : [code, ["grpc-message", encodeURI(statusText(message))]];
}

/** Ends a bidirectional call behind what was written to it, through the library. */
export function endCall(call: BidirectionalCall, { status, message }: Status): void {
  if (status === endStatus.ok) call.end();
  else call.emit("error", { code: status, details: statusText(message) });
}

interface Status {
  readonly status: EndStatus;
  readonly message: string;
}
