import { MillraceError } from "@millrace/base/errors";
import type {
  IBatchReply,
  IBatchRequest,
  IOpenReply,
  IOpenRequest,
  IOpenStream,
  IRows,
  IStreamKey,
} from "@millrace/proto/pipeline";
import { invocationKey } from "@millrace/proto/tokens";
import type { OpenAsk } from "./decide-open.ts";
import type { StreamKey } from "./store.ts";

/** What actors ask of a writer, as the inbox holds it. */
export type Work = OpenWork | ReleaseWork | BatchWork;

export interface OpenWork {
  readonly kind: "open";
  readonly key: StreamKey;
  readonly open: OpenAsk;
}

export interface ReleaseWork {
  readonly kind: "release";
  readonly attemptId: number;
  readonly owner: string;
}

export interface BatchWork {
  readonly kind: "batch";
  readonly key: StreamKey;
  /** 0 while `open` decides it. */
  readonly attemptId: number;
  readonly owner: string;
  readonly open: OpenAsk | undefined;
  readonly first: number;
  readonly last: number;
  readonly message: IBatchRequest;
}

/** The answer to any work; which of the two follows from its kind. */
export type Reply = IOpenReply | IBatchReply;

/** @throws MillraceError (reject) for a request that names no stream, owner or attempt */
export function readOpenRequest(request: IOpenRequest): OpenWork | ReleaseWork {
  if (request.open) {
    return { kind: "open", key: readKey(request.open.key), open: readOpenStream(request.open) };
  }
  const attemptId = request.release?.attemptId ?? 0;
  if (attemptId <= 0) throw malformed("an open request asks for nothing");
  return { kind: "release", attemptId, owner: readOwner(request.release?.owner) };
}

/** @throws MillraceError (reject) for a batch that names no stream, owner, attempt or events */
export function readBatchRequest(message: IBatchRequest): BatchWork {
  const first = message.firstSequence ?? 0;
  const last = message.lastSequence ?? 0;
  const attemptId = message.attemptId ?? 0;
  if (first < 1 || last < first) throw malformed(`a batch holds events ${first} to ${last}`);
  if (attemptId <= 0 && !message.open) throw malformed("a batch neither names an attempt nor opens one");
  return {
    kind: "batch",
    key: readKey(message.key),
    attemptId: message.open ? 0 : attemptId,
    owner: readOwner(message.owner),
    open: message.open ? readOpenStream(message.open) : undefined,
    first,
    last,
    message,
  };
}

/** Work with one flow is decided in order, by one transaction at a time of this process. */
export function flowOf(work: Work): { project: string; flow: string } {
  if (work.kind === "release") return { project: "", flow: `attempt ${work.attemptId}` };
  return { project: work.key.project, flow: invocationKey(work.key.project, work.key.invocationId) };
}

/** Two works with one identity are one: asked again because an answer was lost or late. */
export function identityOf(work: Work): string {
  switch (work.kind) {
    case "open":
      return `open ${flowOf(work).flow} ${work.open.owner} ${work.open.first}`;
    case "release":
      return `release ${work.attemptId} ${work.owner}`;
    case "batch":
      return `batch ${flowOf(work).flow} ${work.attemptId} ${work.owner} ${work.first} ${work.last}`;
  }
}

/** Bytes that a work is counted with: its segments, and 256 for each row and for itself. */
export function sizeOf(work: Work): number {
  if (work.kind !== "batch") return rowBytes;
  const { events, log, rows } = work.message;
  return (events?.data?.length ?? 0) + (log?.data?.length ?? 0) + sizeOfRows(rows ?? {}) + rowBytes;
}

function sizeOfRows(rows: IRows): number {
  let bytes = 0;
  for (const list of Object.values(rows)) if (Array.isArray(list)) bytes += list.length * rowBytes;
  for (const block of rows.namedSets ?? []) bytes += block.data?.length ?? 0;
  return bytes;
}

const rowBytes = 256;

function readKey(key: IStreamKey | null | undefined): StreamKey {
  const project = key?.project ?? "";
  const invocationId = key?.invocationId ?? "";
  if (project === "" || invocationId === "") throw malformed("a request names no stream");
  return { project, invocationId };
}

function readOpenStream(open: IOpenStream): OpenAsk {
  const first = open.firstSequence ?? 0;
  if (first < 1) throw malformed(`a stream opens at event ${first}`);
  return {
    owner: readOwner(open.owner),
    first,
    hmac: hex(open.firstEventHmac),
    buildId: open.buildId ?? "",
    node: open.node ?? "",
  };
}

function readOwner(owner: Uint8Array | null | undefined): string {
  if (!owner || owner.length === 0) throw malformed("a request has no owner");
  return hex(owner);
}

function hex(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex") : "";
}

function malformed(message: string): MillraceError {
  return new MillraceError({ remedy: "reject", code: "malformed-request", message });
}
