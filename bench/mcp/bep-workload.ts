import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { BepFile } from "@millrace/mcp/capture/bep-file";
import { BepReducer } from "@millrace/mcp/reduce/bep-reducer";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import { FrameSplitter, frameMessage } from "@millrace/proto/bep/frames";
import { peekRequest } from "@millrace/proto/bes/peek";
import { check, freshRoot, type Measured, percentile, timed } from "./harness.ts";

const corpus = path.resolve(import.meta.dirname, "../../test/corpus/bazel7-test-ok");
/** Size of the published large stream. */
const largeBytes = 67_100_000;
const limits = { messageBytesMax: 64 << 20 };

/** A recorded stream of Bazel 7 as the file that Bazel would have written. */
function recordedFile(): Buffer {
  const plain = path.join(corpus, "stream1.requests.bin");
  const bytes = existsSync(plain) ? readFileSync(plain) : gunzipSync(readFileSync(`${plain}.gz`));
  const frames: Buffer[] = [];
  for (const frame of new FrameSplitter(limits).push(bytes)) {
    if (frame.kind !== "frame") break;
    const request = peekRequest(frame.bytes);
    if (request.kind !== "request") continue;
    const event = readEnvelope(request.bytes.subarray(request.eventStart, request.eventEnd));
    if (event.kind === "bazel")
      frames.push(frameMessage(event.bytes.subarray(event.payloadStart, event.payloadEnd)));
  }
  return Buffer.concat(frames);
}

/** Reducing one recorded build, the same many times over as one 67 MB file, and one that comes in pieces. */
export async function bepWorkload(): Promise<Measured> {
  const one = recordedFile();
  const root = path.dirname(freshRoot());
  const small = path.join(root, "small.bep");
  writeFileSync(small, one);
  const times: number[] = [];
  let events = 0;
  for (let round = 0; round < 30; round += 1) {
    const done = await reduceFile(small);
    times.push(done.ms);
    events = done.file.reducer.events;
  }
  const large = path.join(root, "large.bep");
  const copies = Math.ceil(largeBytes / one.length);
  writeFileSync(large, Buffer.concat(Array.from({ length: copies }, () => one)));
  const rssBefore = process.memoryUsage().rss;
  const big = await reduceFile(large);
  const growth = process.memoryUsage().rss - rssBefore;
  check(big.file.fault === "" && big.file.reducer.events === events * copies, "every event is reduced");
  const { tests } = big.file.reducer.reduced();
  check(tests.length > 0 && tests.every((test) => test.summarised), "the tests of the last copy are there");
  return {
    bep_small: percentile(times, 50),
    bep_small_events: events,
    bep_large: big.ms,
    bep_large_events: events * copies,
    bep_large_rss_growth_bytes: Math.max(0, growth),
    tail_1021: pieces(one, 1021),
    tail_65549: pieces(one, 65_549),
  };
}

async function reduceFile(file: string): Promise<{ ms: number; file: BepFile }> {
  const source = new BepFile(file);
  const done = await timed(() => source.finish());
  return { ms: done.ms, file: source };
}

/** Time after the last piece until everything is known. */
function pieces(bytes: Buffer, size: number): number {
  const splitter = new FrameSplitter(limits);
  const reducer = new BepReducer();
  let last = 0;
  for (let at = 0; at < bytes.length; at += size) {
    const since = performance.now();
    for (const frame of splitter.push(bytes.subarray(at, at + size))) {
      if (frame.kind === "frame") reducer.accept(frame.bytes);
    }
    last = performance.now() - since;
  }
  check(splitter.end() === undefined && reducer.reduced().isComplete, "the pieces make the whole");
  return last;
}
