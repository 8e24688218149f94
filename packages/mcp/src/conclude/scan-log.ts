import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { Finding } from "../diagnose/rules.ts";
import { type TextKind, TextScanner } from "../diagnose/scan-text.ts";

const chunkBytes = 1 << 20;

/** Diagnostics in a log of any size, read once from start to end, yielding to other work after each MiB. */
export async function scanLog(path: string, kind: TextKind): Promise<readonly Finding[]> {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return []; // Nothing was written.
  }
  try {
    const scanner = new TextScanner(kind);
    const decoder = new StringDecoder("utf8");
    const chunk = Buffer.alloc(chunkBytes);
    for (let position = 0; ; ) {
      const read = readSync(fd, chunk, 0, chunkBytes, position);
      if (read === 0) break;
      position += read;
      scanner.push(decoder.write(chunk.subarray(0, read)));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return scanner.findings();
  } finally {
    closeSync(fd);
  }
}

/** The last `bytes` of a file as text; "" when there is none. */
export function tailOf(path: string, bytes: number): string {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return "";
  }
  try {
    const chunk = Buffer.alloc(bytes);
    const size = fstatSync(fd).size;
    const read = readSync(fd, chunk, 0, bytes, Math.max(0, size - bytes));
    return chunk.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}
