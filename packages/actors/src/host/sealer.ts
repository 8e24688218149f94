import { createHash } from "node:crypto";
import { hotLevel, type Zstd } from "@millrace/base/zstd";
import type {
  IBatchRequest,
  IEventSegment,
  ILogSegment,
  INamedSetBlock,
  IRows,
} from "@millrace/proto/pipeline";
import type { BatchContent, SealedBodies, SealedBody } from "../core/effects.ts";
import type { HostPorts } from "./ports.ts";

/** Room in a message for all that is not the two compressed bodies. */
const messageHeadBytes = 256 * 1024;

/** Whose batch it is, as far as messages name it. */
export interface SealContext {
  readonly project: string;
  readonly owner: Uint8Array;
  readonly messageBytesMax: number;
}

/**
 * Compresses a batch off this thread, unless a task has, and where it is too large for a message puts the bodies
 * into the blob store: durable there before the batch is sent, owned by the committed row after.
 */
export async function sealBodies(
  ports: Pick<HostPorts, "zstd" | "blobs">,
  context: SealContext,
  batch: BatchContent,
): Promise<Pick<IBatchRequest, "events" | "log" | "rows">> {
  const [{ events, log }, allSets] = await (batch.sealed === undefined
    ? Promise.all([compressBatch(ports.zstd, batch), compressSets(ports.zstd, batch.rows)])
    : [batch.sealed, batch.rows.namedSets ?? []]);
  const { sets, bytes: setBytes } = setsThatFit(allSets, context.messageBytesMax / 2);
  const rows = { ...batch.rows, namedSets: sets };
  const bodyBytes = events.data.length + (log?.data.length ?? 0);
  const fits = bodyBytes + setBytes + messageHeadBytes <= context.messageBytesMax;
  const place = async (body: SealedBody, kind: string): Promise<{ data?: Uint8Array; stagedKey?: string }> =>
    fits
      ? { data: body.data }
      : { stagedKey: await stage(ports, context, { body, name: `${batch.first}-${kind}` }) };
  const eventSegment: IEventSegment = { rawBytes: events.rawBytes, ...(await place(events, "events")) };
  if (log === undefined) return { events: eventSegment, rows };
  const logSegment: ILogSegment = {
    firstByte: batch.logFirstByte,
    byteCount: log.rawBytes,
    firstLine: batch.logFirstLine,
    lineCount: batch.logLines,
    ...(await place(log, "log")),
  };
  return { events: eventSegment, log: logSegment, rows };
}

/** The blocks of named sets in `rows`, their data compressed. */
export async function compressSets(zstd: Zstd, rows: IRows): Promise<INamedSetBlock[]> {
  const blocks = rows.namedSets ?? [];
  return await Promise.all(
    blocks.map(async (block) => ({
      ...block,
      data: await zstd.compress(block.data ?? new Uint8Array(0), hotLevel),
    })),
  );
}

/**
 * The first blocks, as many as a message may carry; the last of them says when there were more. Only a single event of
 * many megabytes comes to this: what is cut off is in the raw event.
 */
function setsThatFit(
  blocks: readonly INamedSetBlock[],
  bytesMax: number,
): { sets: INamedSetBlock[]; bytes: number } {
  const sets: INamedSetBlock[] = [];
  let bytes = 0;
  for (const block of blocks) {
    const more = bytes + (block.data?.length ?? 0);
    if (more > bytesMax) {
      const last = sets.pop() ?? { ...block, data: new Uint8Array(0) };
      sets.push({ ...last, cut: true });
      break;
    }
    sets.push(block);
    bytes = more;
  }
  return { sets, bytes };
}

/** Start of the SHA-256 of a body in hex, as staged keys end in it. */
export function bodyDigest(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex").slice(0, 32);
}

/** Compresses `parts`, `rawBytes` together, as one body. */
export async function compressParts(
  zstd: Zstd,
  parts: readonly Uint8Array[],
  rawBytes: number,
): Promise<SealedBody> {
  return { data: await zstd.compress(concat(parts, rawBytes), hotLevel), rawBytes };
}

async function compressBatch(zstd: Zstd, batch: BatchContent): Promise<SealedBodies> {
  const [events, log] = await Promise.all([
    compressParts(zstd, batch.events, batch.eventBytes),
    batch.logBytes === 0 ? undefined : compressParts(zstd, batch.log, batch.logBytes),
  ]);
  return { events, log };
}

async function stage(
  ports: Pick<HostPorts, "blobs">,
  context: SealContext,
  what: { body: SealedBody; name: string },
): Promise<string> {
  const { data, digest = bodyDigest(data) } = what.body;
  const owner = Buffer.from(context.owner).toString("hex");
  const key = `${context.project}/staged/${owner}/${what.name}-${digest}`;
  await ports.blobs.put(key, data);
  return key;
}

function concat(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const only = parts[0];
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
