import { createHash } from "node:crypto";
import { hotLevel, type Zstd } from "@millrace/base/zstd";
import type { IBatchRequest, IEventSegment, ILogSegment } from "@millrace/proto/pipeline";
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
): Promise<Pick<IBatchRequest, "events" | "log">> {
  const { events, log } = batch.sealed ?? (await compressBatch(ports.zstd, batch));
  const fits = events.data.length + (log?.data.length ?? 0) + messageHeadBytes <= context.messageBytesMax;
  const place = async (body: SealedBody, kind: string): Promise<{ data?: Uint8Array; stagedKey?: string }> =>
    fits
      ? { data: body.data }
      : { stagedKey: await stage(ports, context, { body, name: `${batch.first}-${kind}` }) };
  const eventSegment: IEventSegment = { rawBytes: events.rawBytes, ...(await place(events, "events")) };
  if (log === undefined) return { events: eventSegment };
  const logSegment: ILogSegment = {
    firstByte: batch.logFirstByte,
    byteCount: log.rawBytes,
    firstLine: batch.logFirstLine,
    lineCount: batch.logLines,
    ...(await place(log, "log")),
  };
  return { events: eventSegment, log: logSegment };
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
