import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { frameMessage } from "@millrace/proto/bep/frames";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getRun, readStream } from "../../../../test/model/corpus.ts";
import { decodeEvent, decodeRequest } from "../../../../test/model/decode.ts";
import { openRecordedStream, type RecordedEvent, type RecordedStream } from "./recorded-stream.ts";
import { encodeEventRequest } from "./requests.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-recordings-"));
});
afterAll(() => rm(directory, { recursive: true }));

const recordedFile = join(
  import.meta.dirname,
  "../../../../test/corpus/bazel4-test-ok/stream1.requests.bin.gz",
);
const requests = readStream(getRun("bazel4-test-ok"), 1).map(decodeRequest);
const payloads = requests.flatMap(({ event }) => {
  const content = decodeEvent(event);
  return content.kind === "bazel" ? [content.payload] : [];
});

async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, bytes);
  return file;
}

async function open(file: string): Promise<RecordedStream & { all: RecordedEvent[] }> {
  const stream = await openRecordedStream(file);
  const all: RecordedEvent[] = [];
  for await (const event of stream.events) all.push(event);
  return { ...stream, all };
}

/** What a server would store of it. */
function sentPayloads(events: readonly RecordedEvent[]): Uint8Array[] {
  return events.flatMap(({ event }) => {
    const content = decodeEvent(event);
    return content.kind === "bazel" ? [content.payload] : [];
  });
}

test("recorded requests keep events, numbers, keywords, names and times", async () => {
  const file = recordedFile;
  const { names, all } = await open(file);
  expect(all.map(({ event }) => Buffer.from(event))).toEqual(requests.map(({ event }) => Buffer.from(event)));
  expect(all.map(({ sequence }) => sequence)).toEqual(requests.map(({ sequence }) => sequence));
  expect(all[0]?.keywords).toEqual(requests[0]?.keywords);
  expect(names).toMatchObject({ buildId: requests[0]?.buildId, invocationId: requests[0]?.invocationId });
  const timeOfThird = requests[2] === undefined ? undefined : decodeEvent(requests[2].event).timeMs;
  expect(all[2]?.atMs).toBe(timeOfThird);
});

test("a request written anew decodes to the same", async () => {
  const { names, all } = await open(recordedFile);
  const { buildId = "", invocationId = "" } = names;
  const again = all.map((one) =>
    decodeRequest(encodeEventRequest({ ...one, names: { ...names, buildId, invocationId } })),
  );
  expect(again.map((one) => ({ ...one, event: Buffer.from(one.event) }))).toEqual(
    requests.map((one) => ({ ...one, event: Buffer.from(one.event) })),
  );
});

test.each([
  ["plain", (bytes: Uint8Array) => bytes],
  ["gzipped", (bytes: Uint8Array) => gzipSync(bytes)],
])("a %s BEP file becomes the stream that Bazel would have sent", async (name, pack) => {
  const bytes = Buffer.concat(payloads.map(frameMessage));
  const { names, all } = await open(await write(`${name}.bep`, pack(bytes)));
  expect(sentPayloads(all).map(Buffer.from)).toEqual(payloads.map(Buffer.from));
  expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
  expect(decodeEvent(all.at(-1)?.event ?? new Uint8Array(0)).kind).toBe("stream-finished");
  expect(all[0]?.keywords).toEqual(["protocol_name=BEP", "command_name=test"]);
  expect(names.invocationId).toBe(requests[0]?.invocationId);
});

test("the same BEP file always gives the same events, and their times never go back", async () => {
  const file = await write("same.bep", Buffer.concat(payloads.map(frameMessage)));
  const [first, second] = [await open(file), await open(file)];
  expect(second.all).toEqual(first.all);
  const times = first.all.map(({ atMs }) => atMs ?? 0);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times.at(-1)).toBeGreaterThan(times[0] ?? 0);
});

test("a JSON file becomes the same events, blank lines or not", async () => {
  const lines = [
    '{"id":{"started":{}},"started":{"uuid":"u-1","command":"build","startTimeMillis":"1700000000000"}}',
  ];
  lines.push("", '{"id":{"buildFinished":{}},"finished":{"exitCode":{"name":"SUCCESS"}},"lastMessage":true}');
  const { names, all } = await open(await write("events.json", `${lines.join("\n")}\n`));
  expect(names.invocationId).toBe("u-1");
  expect(all).toHaveLength(3);
  expect(all[0]?.atMs).toBe(1_700_000_000_000);
});

test.each([
  ["missing.bep", undefined, "there is no such file"],
  ["empty.bep", "", "is no recording"],
  ["text.txt", "INFO: Build completed successfully\n", "is no recording"],
  ["json.json", '{"name":"x"}\n', "is no recording"],
])("%s is refused with a sentence", async (name, content, sentence) => {
  const file = content === undefined ? join(directory, name) : await write(name, content);
  await expect(open(file)).rejects.toThrow(sentence);
});

test("a file that breaks off tells where", async () => {
  const bytes = Buffer.concat(payloads.map(frameMessage));
  const file = await write("cut.bep", bytes.subarray(0, bytes.length - 3));
  await expect(open(file)).rejects.toThrow(/cut\.bep is damaged: The message at byte \d+ ends in the middle/);
});

test("gzip data that break off are told", async () => {
  const packed = gzipSync(Buffer.concat(payloads.map(frameMessage)));
  const file = await write("cut.gz", packed.subarray(0, packed.length - 20));
  await expect(open(file)).rejects.toThrow("its gzip data end too early");
});

test("a directory is refused with a sentence", async () => {
  await expect(open(directory)).rejects.toThrow("it is a directory");
});
