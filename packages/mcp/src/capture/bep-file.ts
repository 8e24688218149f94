import { closeSync, openSync, readSync } from "node:fs";
import { errorCode } from "@millrace/base/errors";
import { FrameSplitter } from "@millrace/proto/bep/frames";
import { BepReducer } from "../reduce/bep-reducer.ts";

const chunkBytes = 1 << 20;
/** Bazel's own limit for one protobuf message of this kind is far below. */
export const frameBytesMax = 64 << 20;

/**
 * Reduces a `--build_event_binary_file` while it is being written or afterwards. Nothing polls: each `advance` takes
 * what has come since the last one, so a running build can be looked into at any time for the price of its new events.
 */
export class BepFile {
  readonly reducer = new BepReducer();
  private readonly path: string;
  private readonly splitter = new FrameSplitter({ messageBytesMax: frameBytesMax });
  private fd: number | undefined;
  private position = 0;
  /** What is wrong with the stream, in words; "" while nothing is. */
  fault = "";

  constructor(path: string) {
    this.path = path;
  }

  get bytes(): number {
    return this.position;
  }

  /** Takes in what has been written since the last call, giving other work a turn after each MiB. */
  async advance(): Promise<void> {
    if (this.fd === undefined && !this.open()) return;
    while (this.advanceChunk()) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Reads one chunk; false when there was nothing more. */
  private advanceChunk(): boolean {
    if (this.fd === undefined) return false;
    // A fresh buffer each time: a message that reaches into the next chunk keeps a view of it.
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const read = readSync(this.fd, chunk, 0, chunkBytes, this.position);
    if (read === 0) return false;
    this.position += read;
    if (this.fault !== "") return read === chunkBytes;
    for (const frame of this.splitter.push(chunk.subarray(0, read))) {
      if (frame.kind === "frame") this.reducer.accept(frame.bytes);
      else this.fault = frame.message;
    }
    return read === chunkBytes;
  }

  private open(): boolean {
    try {
      this.fd = openSync(this.path, "r");
      return true;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** Takes in the rest and says whether the file ended where a message ended. What was readable counts in any case. */
  async finish(): Promise<void> {
    await this.advance();
    const broken = this.splitter.end();
    if (broken !== undefined && this.fault === "") this.fault = broken.message;
    this.close();
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    this.fd = undefined;
  }
}
