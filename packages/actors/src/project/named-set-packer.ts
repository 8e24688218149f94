import {
  cutBetweenFields,
  frameHead,
  type NamedSetPlace,
  numberOfId,
} from "@millrace/proto/bep/named-set-block";
import type { INamedSetBlock } from "@millrace/proto/pipeline";

/** A block is closed before it grows beyond this: who looks for one set decompresses the whole block. */
export const blockBytesMax = 64 * 1024;

/** An id of a set as long as this is nobody's; such a set stays in its raw event. */
const idBytesMax = 256;

interface OpenBlock {
  readonly parts: Uint8Array[];
  bytes: number;
  sets: number;
  files: number;
  firstId: number;
  lastId: number;
  allNumbers: boolean;
}

/**
 * Packs the named sets of a batch and the outputs of its targets into blocks, as `named-set-block.ts` describes them.
 * Payloads are copied, not read.
 */
export class NamedSetPacker {
  private blocks: INamedSetBlock[] = [];
  private open: OpenBlock | undefined;

  /** Adds the set at `place` with the payload `bytes[payload.from, payload.to)`. */
  add(place: NamedSetPlace, payload: { readonly from: number; readonly to: number }): void {
    const { bytes, idStart, idEnd } = place;
    if (idEnd - idStart > idBytesMax) return;
    const id = bytes.subarray(idStart, idEnd);
    const number = numberOfId(Buffer.from(id).toString("utf8"));
    const isLarge = payload.to - payload.from > blockBytesMax;
    const pieces = isLarge ? cutBetweenFields(bytes, payload, blockBytesMax) : [payload];
    pieces.forEach(({ from, to }, index) => {
      const head = frameHead({ id, continues: index > 0, outputs: false, payloadBytes: to - from });
      const block = this.append(head, bytes.subarray(from, to));
      extend(block, number);
      if (index > 0) return;
      block.sets += 1;
      block.files += place.fileCount;
    });
  }

  /** Adds the outputs of the target whose event has the number `sequence`. */
  addOutputs(sequence: number, outputs: Uint8Array): void {
    const id = Buffer.from(String(sequence));
    const head = frameHead({ id, continues: false, outputs: true, payloadBytes: outputs.length });
    extend(this.append(head, outputs), sequence);
  }

  private append(head: Uint8Array, payload: Uint8Array): OpenBlock {
    const block = this.blockFor(head.length + payload.length);
    block.parts.push(head, payload);
    block.bytes += head.length + payload.length;
    return block;
  }

  /** The blocks since the last call, the last one closed whatever its size. */
  take(): INamedSetBlock[] {
    this.close();
    const blocks = this.blocks;
    this.blocks = [];
    return blocks;
  }

  private blockFor(bytes: number): OpenBlock {
    if (this.open !== undefined && this.open.bytes + bytes > blockBytesMax) this.close();
    this.open ??= {
      ...{ parts: [], bytes: 0, sets: 0, files: 0 },
      ...{ firstId: Number.MAX_SAFE_INTEGER, lastId: 0, allNumbers: true },
    };
    return this.open;
  }

  private close(): void {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    const data = new Uint8Array(open.bytes);
    let at = 0;
    for (const part of open.parts) {
      data.set(part, at);
      at += part.length;
    }
    this.blocks.push({
      data,
      rawBytes: open.bytes,
      setCount: open.sets,
      fileCount: open.files,
      ...(open.allNumbers ? { firstId: open.firstId, lastId: open.lastId } : {}),
      cut: false,
    });
  }
}

/** `number`: of the id that was added; undefined when it is none. */
function extend(block: OpenBlock, number: number | undefined): void {
  if (number === undefined) block.allNumbers = false;
  else {
    block.firstId = Math.min(block.firstId, number);
    block.lastId = Math.max(block.lastId, number);
  }
}
