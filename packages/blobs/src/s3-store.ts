import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { Client } from "minio";
import { keySegments } from "./blob-key.ts";
import type { Blob, BlobContent, BlobHead, ByteRange, OwnedBlobStore } from "./blob-store.ts";
import { leftoverAgeMs } from "./leftovers.ts";
import { isNoObject, s3Failure } from "./s3-errors.ts";
import { watched } from "./watched-source.ts";

/** A stream of unknown length is sent in parts of this size, each of which is in memory; S3 takes 10,000. */
const partBytes = 16 * 1024 * 1024;

export interface S3Place {
  /** `http(s)://host[:port]` */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/**
 * A blob store in a bucket of an S3 service, addressed path style. A put is one request, or for a stream a multipart
 * upload: nobody sees the key before the service has confirmed all of it. Fails with `blob-no-bucket` when the bucket
 * is not there and with `blob-not-permitted`, but not when the service is away.
 */
export async function openS3Store(place: S3Place, ports: { readonly clock: Clock }): Promise<OwnedBlobStore> {
  const client = clientOf(place);
  const at = { client, bucket: place.bucket };
  await checkBucket(at, place);
  return {
    identity: `${place.endpoint}/${place.bucket}`,
    put: (key, content) => putObject(at, { key, content, clock: ports.clock }),
    get: async (key, range) => getObject(at, keySegments(key).join("/"), range),
    head: async (key) => headOf(at, keySegments(key).join("/")),
    delete: async (key) => deleteObject(at, keySegments(key).join("/")),
    list: (prefix) => listObjects(at, prefix),
    removeLeftovers: (olderThanMs = leftoverAgeMs) => removeUploads(at, ports.clock.now() - olderThanMs),
  };
}

interface At {
  readonly client: Client;
  readonly bucket: string;
}

function clientOf(place: S3Place): Client {
  const url = new URL(place.endpoint);
  const useSSL = url.protocol === "https:";
  return new Client({
    endPoint: url.hostname,
    port: url.port === "" ? (useSSL ? 443 : 80) : Number(url.port),
    useSSL,
    region: place.region,
    accessKey: place.accessKey,
    secretKey: place.secretKey,
    pathStyle: true,
    partSize: partBytes,
  });
}

async function checkBucket(at: At, place: S3Place): Promise<void> {
  const doing = `opening the bucket ${place.bucket} at ${place.endpoint}`;
  const exists = await at.client.bucketExists(at.bucket).catch((error: unknown) => {
    const failure = s3Failure(doing, error);
    // A service that is away keeps nobody from starting: most batches do not need it.
    if (failure.code === "blob-unreachable") return true;
    throw failure;
  });
  if (!exists) throw s3Failure(doing, { code: "NoSuchBucket" });
}

async function putObject(
  at: At,
  { key, content, clock }: { key: string; content: BlobContent; clock: Clock },
): Promise<BlobHead> {
  keySegments(key);
  const source = watched(content);
  try {
    if (source.content instanceof Uint8Array) await putWhole(at, key, source.content);
    else await putParts(at, key, source.content);
  } catch (error) {
    if (source.failed()) throw error;
    throw s3Failure(`storing ${key}`, error);
  }
  return { key, size: source.size(), modifiedAtMs: clock.now() };
}

async function putWhole({ client, bucket }: At, key: string, bytes: Uint8Array): Promise<void> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await client.putObject(bucket, key, body, body.length);
}

/**
 * What fits into one part is put as a whole. The client's own way for streams is not used: an error of the stream would
 * end the process there, and an upload that somebody else has begun for the key would be gone on with.
 */
async function putParts(at: At, key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const { client, bucket } = at;
  let uploadId: string | undefined;
  const done: { part: number; etag: string }[] = [];
  const send = async (part: Buffer): Promise<void> => {
    uploadId ??= await client.initiateNewMultipartUpload(bucket, key, {});
    const place = { bucketName: bucket, objectName: key, uploadID: uploadId, partNumber: done.length + 1 };
    const { etag } = await client.uploadPart({ ...place, headers: {} }, part);
    done.push({ part: place.partNumber, etag });
  };
  try {
    let last: Buffer | undefined;
    for await (const part of partsOf(content)) {
      if (last !== undefined) await send(last);
      last = part;
    }
    if (uploadId === undefined) return await putWhole(at, key, last ?? Buffer.alloc(0));
    if (last !== undefined) await send(last);
    await client.completeMultipartUpload(bucket, key, uploadId, done);
  } catch (error) {
    if (uploadId !== undefined) {
      await client.abortMultipartUpload(bucket, key, uploadId).catch(() => {
        // It is a leftover then; the failure that counts is the first.
      });
    }
    throw error;
  }
}

/** The content in pieces of the size of a part; the last one may be shorter. */
async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let gathered = 0;
  for await (const piece of content) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + partBytes - gathered);
      pieces.push(taken);
      gathered += taken.length;
      at += taken.length;
      if (gathered < partBytes) continue;
      yield Buffer.concat(pieces);
      pieces = [];
      gathered = 0;
    }
  }
  if (gathered > 0) yield Buffer.concat(pieces);
}

async function headOf({ client, bucket }: At, key: string): Promise<BlobHead | undefined> {
  try {
    const found = await client.statObject(bucket, key);
    return { key, size: found.size, modifiedAtMs: found.lastModified.getTime() };
  } catch (error) {
    if (isNoObject(error)) return undefined;
    throw s3Failure(`looking for ${key}`, error);
  }
}

async function getObject(at: At, key: string, range: ByteRange | undefined): Promise<Blob | undefined> {
  const head = await headOf(at, key);
  if (head === undefined) return undefined;
  const from = Math.max(0, range?.from ?? 0);
  const to = Math.min(head.size, range?.to ?? head.size);
  return { head, content: readPieces(at, { key, from, to }) };
}

async function* readPieces(
  at: At,
  what: { key: string; from: number; to: number },
): AsyncGenerator<Uint8Array> {
  const { key, from, to } = what;
  if (from >= to) return;
  try {
    yield* (await at.client.getPartialObject(at.bucket, key, from, to - from)) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!isNoObject(error)) throw s3Failure(`reading ${key}`, error);
    throw new MillraceError({
      remedy: "reject",
      code: "blob-gone",
      message: `the blob ${key} was deleted while it was being read`,
      cause: error,
    });
  }
}

async function deleteObject({ client, bucket }: At, key: string): Promise<void> {
  try {
    await client.removeObject(bucket, key);
  } catch (error) {
    if (isNoObject(error)) return;
    throw s3Failure(`deleting ${key}`, error);
  }
}

async function* listObjects({ client, bucket }: At, prefix: string): AsyncGenerator<BlobHead> {
  try {
    for await (const item of client.listObjectsV2(bucket, prefix, true)) {
      const { name, size, lastModified } = item as { name?: string; size: number; lastModified?: Date };
      if (name === undefined) continue;
      yield { key: name, size, modifiedAtMs: lastModified?.getTime() ?? 0 };
    }
  } catch (error) {
    throw s3Failure(`listing ${prefix}`, error);
  }
}

async function removeUploads(at: At, before: number): Promise<number> {
  let removed = 0;
  try {
    for await (const upload of uploadsBelow(at, "")) {
      if (upload.initiated.getTime() >= before) continue;
      await at.client.abortMultipartUpload(at.bucket, upload.key, upload.uploadId);
      removed += 1;
    }
  } catch (error) {
    throw s3Failure("removing unfinished uploads", error);
  }
  return removed;
}

interface Upload {
  readonly key: string;
  readonly uploadId: string;
  readonly initiated: Date;
}

/** Word by word of their keys: not every service lists them all at once. */
async function* uploadsBelow(at: At, prefix: string): AsyncGenerator<Upload> {
  for await (const found of at.client.listIncompleteUploads(at.bucket, prefix, false)) {
    const entry = found as Upload | { prefix: string };
    if ("key" in entry) yield entry;
    else if (entry.prefix.length > prefix.length) yield* uploadsBelow(at, entry.prefix);
  }
}
