import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { Client } from "minio";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SwiftServer, swiftServer } from "../../../test/services/swift.ts";
import { tool } from "../../../test/tools.ts";
import { storesBlobs } from "./blob-store.fixture.ts";
import { type OwnedBlobStore, readBlob } from "./blob-store.ts";
import { openBlobs } from "./open-blobs.ts";
import { openS3Store, type S3Place } from "./s3-store.ts";

const swift = await tool("swift");

describe.skipIf(swift.kind === "missing")("a bucket of a real S3 service", () => {
  let server: SwiftServer;
  let place: S3Place;
  let store: OwnedBlobStore;

  beforeAll(async () => {
    if (swift.kind === "found") server = await swiftServer(swift);
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    place = await server.newBucket();
    store = await openS3Store(place, { clock: systemClock });
  });

  storesBlobs(() => store);

  test("more than one part goes up as a whole, and any range of it comes back", async () => {
    const part = Buffer.from(systemRandom.bytes(1 << 20));
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 19; at += 1) yield part;
    }
    expect((await store.put("p/large", parts())).size).toBe(19 << 20);
    const blob = await store.get("p/large", { from: (16 << 20) - 3, to: (16 << 20) + 5 });
    if (blob === undefined) throw new Error("it was put");
    expect(blob.head.size).toBe(19 << 20);
    const wanted = Buffer.concat([part.subarray(-3), part.subarray(0, 5)]);
    expect(Buffer.from(await readBlob(blob))).toEqual(wanted);
  });

  test("uploads of processes that died go after a day", async () => {
    const { hostname, port } = new URL(place.endpoint);
    const { accessKey, secretKey } = place;
    const at = { endPoint: hostname, port: Number(port), useSSL: false, accessKey, secretKey };
    await new Client(at).initiateNewMultipartUpload(place.bucket, "p/unfinished", {});
    expect(await store.head("p/unfinished")).toBeUndefined();
    expect(await store.removeLeftovers()).toBe(0);
    expect(await store.removeLeftovers(-60_000)).toBe(1);
    expect(await store.removeLeftovers(-60_000)).toBe(0);
  });

  test("what is wrong with the place is said by name", async () => {
    const ports = { clock: systemClock, random: systemRandom };
    const open = (over: Partial<S3Place>) => openS3Store({ ...place, ...over }, ports);
    await expect(open({ bucket: "never-made" })).rejects.toMatchObject({ code: "blob-no-bucket" });
    await expect(open({ secretKey: "wrong" })).rejects.toMatchObject({ code: "blob-not-permitted" });
    const away = await open({ endpoint: "http://127.0.0.1:1" });
    await expect(away.head("p/a")).rejects.toMatchObject({ code: "blob-unreachable", remedy: "retry" });
  });

  test("the settings of a process choose it", async () => {
    const settings = {
      blobDirectory: "/nowhere",
      s3Endpoint: place.endpoint,
      s3Bucket: place.bucket,
      s3Region: place.region,
      s3AccessKey: place.accessKey,
      s3SecretKey: place.secretKey,
    };
    const same = await openBlobs(settings, { clock: systemClock, random: systemRandom });
    expect(same.identity).toBe(store.identity);
    await store.put("p/a", Buffer.from("x"));
    expect(await same.head("p/a")).toMatchObject({ size: 1 });
  });
});
