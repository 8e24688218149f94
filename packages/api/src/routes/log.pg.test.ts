import { createHash, randomBytes, randomUUID } from "node:crypto";
import { stagedKey } from "@millrace/blobs/blob-key";
import { frameMessage, readFrames } from "@millrace/proto/bep/frames";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { type SeededBuild, seedBuild } from "../../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

let store: TestDatabase;
let server: ApiServer;

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.drop();
});

function get(build: SeededBuild, rest: string, headers: Record<string, string> = {}): Promise<Response> {
  return server.fetch(`/api/v1/projects/default/invocations/${build.invocationId}${rest}`, { headers });
}

async function bytes(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer());
}

describe("the log", () => {
  let build: SeededBuild;
  let whole: Buffer;

  beforeAll(async () => {
    build = await seedBuild(server, { invocationId: randomUUID() });
    // Not valid UTF-8, and more segments than are read at a time.
    const parts = Array.from({ length: 80 }, (_, at) =>
      Buffer.concat([randomBytes(97), Buffer.from(`\n${at}\n`)]),
    );
    for (const part of parts.slice(0, 50)) await build.log(part);
    const large = randomBytes(300_000);
    await build.log(large, async (data) => {
      const digest = createHash("sha256").update(data).digest("hex");
      const key = stagedKey({ prefix: "default", attempt: build.attemptId, sequence: 51, digest });
      await server.blobs.put(key, data);
      return key;
    });
    for (const part of parts.slice(50)) await build.log(part);
    whole = Buffer.concat([...parts.slice(0, 50), large, ...parts.slice(50)]);
  });

  test("comes whole, byte for byte, with its length and as nothing but text", async () => {
    const answer = await get(build, "/log");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("millrace-log-length")).toBe(String(whole.length));
    expect(answer.headers.get("content-length")).toBe(String(whole.length));
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await bytes(answer)).equals(whole)).toBe(true);
  });

  test("comes in any part, by query and by Range header", async () => {
    const { length } = whole;
    const cuts = [0, 1, 99, 100, 101, 5_000, 5_200, 250_000, length - 1, length];
    for (const from of cuts) {
      for (const to of cuts.filter((cut) => cut >= from)) {
        const part = await get(build, `/log?from_byte=${from}&to_byte=${to}`);
        expect([from, to, part.status]).toEqual([from, to, 200]);
        expect((await bytes(part)).equals(whole.subarray(from, to)), `${from}-${to}`).toBe(true);
      }
    }
    const ranged = await get(build, "/log", { range: "bytes=5000-5199" });
    expect(ranged.status).toBe(206);
    expect(ranged.headers.get("content-range")).toBe(`bytes 5000-5199/${length}`);
    expect((await bytes(ranged)).equals(whole.subarray(5_000, 5_200))).toBe(true);
    const last = await get(build, "/log", { range: "bytes=-7" });
    expect((await bytes(last)).equals(whole.subarray(length - 7))).toBe(true);
  });

  test("at its end there is nothing yet, behind it nothing can be", async () => {
    expect(await bytes(await get(build, `/log?from_byte=${whole.length}`))).toHaveLength(0);
    const behind = await get(build, `/log?from_byte=${whole.length + 1}`);
    expect(behind.status).toBe(416);
    expect(behind.headers.get("millrace-log-length")).toBe(String(whole.length));
    expect((await get(build, "/log", { range: `bytes=${whole.length}-` })).status).toBe(416);
    expect((await get(build, "/log?from_byte=-1")).status).toBe(400);
  });

  test("is immutable only when its end is stored and the attempt is named", async () => {
    const control = async (rest: string) => (await get(build, rest)).headers.get("cache-control");
    expect(await control("/log?attempt=1")).toContain("no-store");
    const ended = await seedBuild(server, { invocationId: randomUUID() });
    await ended.log("done\n");
    await ended.end({ status: "succeeded" });
    expect((await get(ended, "/log?attempt=1")).headers.get("cache-control")).toContain("immutable");
    expect((await get(ended, "/log")).headers.get("cache-control")).toContain("no-store");
  });

  test("with a part missing fails instead of leaving it out", async () => {
    const torn = await seedBuild(server, { invocationId: randomUUID() });
    await torn.log("one\n");
    torn.logBytes += 10;
    await torn.log("two\n");
    await expect(get(torn, "/log").then(bytes)).rejects.toThrow();
    expect((await get(torn, "/log?from_byte=6")).status).toBe(503);
    const gone = await seedBuild(server, { invocationId: randomUUID() });
    await gone.log("x", async () => "default/staged/1/1-00");
    const answer = await get(gone, "/log");
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      503,
      "segment-missing",
    ]);
  });

  test("of a build without one is empty", async () => {
    const silent = await seedBuild(server, { invocationId: randomUUID() });
    const answer = await get(silent, "/log");
    expect([answer.status, answer.headers.get("millrace-log-length")]).toEqual([200, "0"]);
  });
});

describe("raw events", () => {
  const bep = (event: build_event_stream.IBuildEvent) => build_event_stream.BuildEvent.encode(event).finish();
  const wrap = (value: Uint8Array, typeUrl = "type.googleapis.com/build_event_stream.BuildEvent") =>
    google.devtools.build.v1.BuildEvent.encode({
      eventTime: { seconds: 1_796_078_517, nanos: 250_000_000 },
      bazelEvent: { type_url: typeUrl, value } as object,
    }).finish();
  const payloads = [
    bep({ id: { started: {} }, started: { uuid: "u", command: "test" } }),
    bep({ id: { testSummary: { label: "//a" } }, testSummary: { overallStatus: 4 } }),
    bep({ progress: { stderr: "x".repeat(400_000) } }),
  ];
  let build: SeededBuild;

  beforeAll(async () => {
    build = await seedBuild(server, { invocationId: randomUUID() });
    await build.events(payloads.slice(0, 2).map((payload) => wrap(payload)));
    await build.events([wrap(payloads[2] ?? new Uint8Array()), Buffer.from([0xff, 0xff])]);
    await build.events([
      wrap(Buffer.from([1]), "type.googleapis.com/other.Thing"),
      google.devtools.build.v1.BuildEvent.encode({ componentStreamFinished: { type: 1 } }).finish(),
    ]);
  });

  interface Page {
    events: {
      sequence: number;
      kind: string;
      payload: string | null;
      event: unknown;
      base64: string | null;
    }[];
    nextAfter: number | null;
  }
  const page = async (query: string) => (await (await get(build, `/events${query}`)).json()) as Page;

  test("are decoded where they can be and always there", async () => {
    const { events, nextAfter } = await page("");
    expect(nextAfter).toBeNull();
    expect(events.map((event) => [event.sequence, event.kind, event.payload])).toEqual([
      [1, "bazel", "started"],
      [2, "bazel", "testSummary"],
      [3, "bazel", "progress"],
      [4, "malformed", null],
      [5, "other", null],
      [6, "stream-finished", null],
    ]);
    expect(events[1]?.event).toEqual({
      id: { testSummary: { label: "//a" } },
      testSummary: { overallStatus: "FAILED" },
    });
    expect(Buffer.from(events[3]?.base64 ?? "", "base64")).toEqual(Buffer.from([0xff, 0xff]));
    expect(events[2]).toMatchObject({ event: null, base64: null });
  });

  test("are paged by sequence number", async () => {
    const first = await page("?limit=4");
    expect(first.nextAfter).toBe(4);
    const second = await page(`?limit=4&after=${first.nextAfter}`);
    expect([...first.events, ...second.events].map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await page("?after=6")).events).toEqual([]);
  });

  test("download as the file that Bazel would have written", async () => {
    const answer = await get(build, "/bep");
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    const file = await bytes(answer);
    expect(file.equals(Buffer.concat(payloads.map(frameMessage)))).toBe(true);
    for await (const frame of readFrames([file], { messageBytesMax: 1e6 })) expect(frame.kind).toBe("frame");
  });
});
