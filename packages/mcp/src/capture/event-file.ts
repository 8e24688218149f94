import { closeSync, constants, openSync, writeSync } from "node:fs";
import { encodeLength } from "@millrace/proto/bep/frames";
import { BepReducer } from "../reduce/bep-reducer.ts";
import { fileMode } from "../store/private-file.ts";

/** `events.bep` as we write it ourselves: bytes first on disk, then in the reducer, so a crash loses neither order nor proof. */
export class EventFile {
  readonly reducer = new BepReducer();
  bytes = 0;
  private fd: number | undefined;

  constructor(path: string) {
    const flags = constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND;
    this.fd = openSync(path, flags, fileMode);
  }

  /** Appends whole messages, each without its length. Fails with the disk's error; then nothing of them is reduced. */
  appendMessages(messages: readonly Uint8Array[]): void {
    this.append(Buffer.concat(messages.flatMap((message) => [encodeLength(message.length), message])));
    for (const message of messages) this.reducer.accept(message);
  }

  /** Appends bytes as they are. */
  append(bytes: Uint8Array): void {
    if (this.fd === undefined || bytes.length === 0) return;
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.fd, bytes, written, bytes.length - written);
    }
    this.bytes += bytes.length;
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    this.fd = undefined;
  }
}
