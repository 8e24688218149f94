import fc from "fast-check";
import { expect, test } from "vitest";
import { type BrokenFrame, type Frame, FrameSplitter, frameMessage, readFrames } from "./frames.ts";

const messages = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 3 }),
    fc.nat(400).map((length) => new Uint8Array(length).fill(length)),
  ),
  { maxLength: 8 },
);

/** `file` in pieces whose lengths are given, in turn; 0 gives an empty piece. */
function* cut(file: Uint8Array, lengths: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < file.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    yield file.subarray(at, at + length);
    at += length;
  }
}

async function readAll(source: Iterable<Uint8Array>, messageBytesMax = 1000) {
  const frames: (Frame | BrokenFrame)[] = [];
  for await (const frame of readFrames(source, { messageBytesMax })) frames.push(frame);
  return frames;
}

const cuts = fc.array(fc.nat(200), { minLength: 1, maxLength: 5 }).map((lengths) => [...lengths, 1]);

test("what was framed is read again, however the source is cut", async () => {
  await fc.assert(
    fc.asyncProperty(messages, cuts, async (all, lengths) => {
      const file = Buffer.concat(all.map(frameMessage));
      const frames = await readAll(cut(file, lengths));
      expect(frames.map((frame) => (frame.kind === "frame" ? [...frame.bytes] : frame.message))).toEqual(
        all.map((message) => [...message]),
      );
      let offset = 0;
      for (const [index, frame] of frames.entries()) {
        expect(frame.offset).toBe(offset);
        offset += frameMessage(all[index] ?? new Uint8Array(0)).length;
      }
    }),
  );
});

test("a file cut off in a message gives all whole messages and then the offset of the broken one", async () => {
  await fc.assert(
    fc.asyncProperty(messages, cuts, fc.nat(), async (all, lengths, at) => {
      const file = Buffer.concat(all.map(frameMessage));
      const cutAt = at % (file.length + 1);
      const frames = await readAll(cut(file.subarray(0, cutAt), lengths));
      const ends = all.map((_, index) => Buffer.concat(all.slice(0, index + 1).map(frameMessage)).length);
      const whole = ends.filter((end) => end <= cutAt);
      const wholeEnd = whole.at(-1) ?? 0;
      expect(frames.filter((frame) => frame.kind === "frame").length).toBe(whole.length);
      const broken = frames[whole.length];
      if (cutAt === wholeEnd) expect(broken).toBeUndefined();
      else expect(broken).toMatchObject({ kind: "broken", fault: "truncated", offset: wholeEnd });
    }),
  );
});

test("a message longer than the limit is refused at its length, before its bytes are kept", async () => {
  const file = Buffer.concat([frameMessage(new Uint8Array(5)), frameMessage(new Uint8Array(11))]);
  const frames = await readAll([file], 10);
  expect(frames).toMatchObject([{ kind: "frame" }, { kind: "broken", fault: "too long", offset: 6 }]);
  expect(frames[1]).toMatchObject({ message: "The message at byte 6 announces 11 bytes, more than 10." });
});

test("text is not a varint-delimited file", async () => {
  const frames = await readAll([Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 1])]);
  expect(frames).toMatchObject([{ kind: "broken", fault: "bad length", offset: 0 }]);
});

test("nothing comes after a broken frame", () => {
  const splitter = new FrameSplitter({ messageBytesMax: 1 });
  expect([...splitter.push(Uint8Array.from([2, 0, 0, 1, 1]))]).toMatchObject([{ kind: "broken" }]);
  expect([...splitter.push(Uint8Array.from([1, 1]))]).toEqual([]);
  expect(splitter.end()).toBeUndefined();
});
