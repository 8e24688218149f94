import { hotLevel, loadZstd } from "@millrace/base/zstd";
import type { Workload } from "../workloads/workload.ts";

/** What one COPY sends, ready to be sent again and again. */
export interface CopyGroup {
  readonly bytes: Buffer;
  readonly events: number;
}

interface Segment {
  readonly firstSequence: number;
  readonly events: number;
  readonly data: Uint8Array;
}

/** The batches that Millrace's actors make at most (packages/actors/src/settings.ts). */
const segmentEventsMax = 500;
const segmentBytesMax = 256 * 1_024;

export const copyTable =
  "create table floor (attempt_id bigint not null, first_seq bigint not null, last_seq bigint not null, data bytea)";
export const copyText = "copy floor (attempt_id, first_seq, last_seq, data) from stdin (format binary)";

/** All builds of a workload as groups of so many segments; what does not fill a group is left out. */
export async function copyGroups(workload: Workload, segmentsPerGroup: number): Promise<CopyGroup[]> {
  const segments: Segment[] = [];
  for (let variant = 0; variant < workload.variants; variant += 1) {
    segments.push(...(await segmentsOf(workload.storedPayloads(variant))));
  }
  const groups: CopyGroup[] = [];
  for (let at = 0; at + segmentsPerGroup <= segments.length; at += segmentsPerGroup) {
    groups.push(groupOf(segments.slice(at, at + segmentsPerGroup)));
  }
  return groups;
}

async function segmentsOf(payloads: Iterable<Uint8Array>): Promise<Segment[]> {
  const zstd = await loadZstd();
  const segments: Segment[] = [];
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let firstSequence = 1;
  const seal = async (): Promise<void> => {
    if (held.length === 0) return;
    const data = await zstd.compress(Buffer.concat(held), hotLevel);
    segments.push({ firstSequence, events: held.length, data });
    firstSequence += held.length;
    held = [];
    heldBytes = 0;
  };
  for (const payload of payloads) {
    const isFull = held.length === segmentEventsMax || heldBytes + payload.length > segmentBytesMax;
    if (isFull) await seal();
    held.push(payload);
    heldBytes += payload.length;
  }
  await seal();
  return segments;
}

const signature = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
const trailer = Buffer.from([0xff, 0xff]);

/** The file format of binary COPY (PostgreSQL manual, COPY, "Binary Format"). */
function groupOf(segments: readonly Segment[]): CopyGroup {
  const rows = segments.flatMap(({ firstSequence, events, data }, index) => {
    const head = Buffer.alloc(2 + 3 * 12 + 4);
    head.writeInt16BE(4, 0);
    for (const [field, value] of [index, firstSequence, firstSequence + events - 1].entries()) {
      head.writeInt32BE(8, 2 + field * 12);
      head.writeBigInt64BE(BigInt(value), 6 + field * 12);
    }
    head.writeInt32BE(data.length, head.length - 4);
    return [head, data];
  });
  const events = segments.reduce((sum, segment) => sum + segment.events, 0);
  return { bytes: Buffer.concat([signature, ...rows, trailer]), events };
}
