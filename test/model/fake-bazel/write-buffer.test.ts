import { expect, test } from "vitest";
import { WriteBuffer } from "./write-buffer.ts";

/** A socket that keeps what the system has not taken. */
class FakeSocket {
  writableLength = 0;
  readonly written: Uint8Array[] = [];
  private readonly takesAtOnce: boolean;

  constructor(takesAtOnce: boolean) {
    this.takesAtOnce = takesAtOnce;
  }

  write(bytes: Uint8Array): boolean {
    this.written.push(bytes);
    if (!this.takesAtOnce) this.writableLength += bytes.length;
    return true;
  }
}

test.each([10, 20_000])("%d bytes that a socket still holds are not overwritten", (count) => {
  const socket = new FakeSocket(false);
  const buffer = new WriteBuffer();
  for (const value of [1, 2, 3]) {
    buffer.room(count).fill(value, 0, count);
    buffer.write(socket, count);
  }
  expect(socket.written.map((bytes) => [bytes.length, new Set(bytes)])).toEqual([
    [count, new Set([1])],
    [count, new Set([2])],
    [count, new Set([3])],
  ]);
});

test("the same memory serves again when the system has taken all", () => {
  const socket = new FakeSocket(true);
  const buffer = new WriteBuffer();
  const first = buffer.room(20_000);
  buffer.write(socket, 20_000);
  expect(buffer.room(20_000)).toBe(first);
});
