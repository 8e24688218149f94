import { createHash } from "node:crypto";
import { hotLevel } from "@millrace/base/zstd";
import type { IBatchRequest, IEventSegment, ILogSegment } from "@millrace/proto/pipeline";
import type { BatchContent } from "../core/effects.ts";
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
 * Compresses a batch off this thread and, where it is too large for a message, puts the bodies into the blob
 * store: durable there before the batch is sent, owned by the committed row after.
 */
export async function sealBodies(
  ports: Pick<HostPorts, "zstd" | "blobs">,
  context: SealContext,
  batch: BatchContent,
): Promise<Pick<IBatchRequest, "events" | "log">> {
  const [events, log] = await Promise.all([
    ports.zstd.compress(concat(batch.events, batch.eventBytes), hotLevel),
    batch.logBytes === 0 ? undefined : ports.zstd.compress(concat(batch.log, batch.logBytes), hotLevel),
  ]);
  const fits = events.length + (log?.length ?? 0) + messageHeadBytes <= context.messageBytesMax;
  const place = async (data: Uint8Array, kind: string): Promise<{ data?: Uint8Array; stagedKey?: string }> =>
    fits ? { data } : { stagedKey: await stage(ports, context, { data, name: `${batch.first}-${kind}` }) };
  const eventSegment: IEventSegment = { rawBytes: batch.eventBytes, ...(await place(events, "events")) };
  if (log === undefined) return { events: eventSegment };
  const logSegment: ILogSegment = {
    firstByte: batch.logFirstByte,
    byteCount: batch.logBytes,
    firstLine: batch.logFirstLine,
    lineCount: batch.logLines,
    ...(await place(log, "log")),
  };
  return { events: eventSegment, log: logSegment };
}

async function stage(
  ports: Pick<HostPorts, "blobs">,
  context: SealContext,
  body: { data: Uint8Array; name: string },
): Promise<string> {
  const digest = createHash("sha256").update(body.data).digest("hex").slice(0, 32);
  const owner = Buffer.from(context.owner).toString("hex");
  const key = `${context.project}/staged/${owner}/${body.name}-${digest}`;
  await ports.blobs.put(key, body.data);
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
