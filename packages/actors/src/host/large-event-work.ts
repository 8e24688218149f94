import type { Zstd } from "@millrace/base/zstd";
import { varint } from "../core/batch-builder.ts";
import type { LargeProjection, ProjectedLarge, SealedBody } from "../core/effects.ts";
import { projectLargeEvent } from "../project/large-event.ts";
import { bodyDigest, compressParts, compressSets } from "./sealer.ts";

/** All that is expensive about a large event: scrubbing, rows, compression, digest. Nothing of it is left for the thread. */
export async function workOnLargeEvent(zstd: Zstd, large: LargeProjection): Promise<ProjectedLarge> {
  const { bytes, log, rows, ...projected } = projectLargeEvent(large);
  const prefix = varint(bytes.length);
  const events = await compressParts(zstd, [prefix, bytes], prefix.length + bytes.length);
  const logBytes = log.reduce((sum, chunk) => sum + chunk.length, 0);
  const logBody = logBytes === 0 ? undefined : await compressParts(zstd, log, logBytes);
  return {
    ...projected,
    rows: { ...rows, namedSets: await compressSets(zstd, rows) },
    bodies: { events: withDigest(events), log: logBody === undefined ? undefined : withDigest(logBody) },
  };
}

function withDigest(body: SealedBody): SealedBody {
  return { ...body, digest: bodyDigest(body.data) };
}
