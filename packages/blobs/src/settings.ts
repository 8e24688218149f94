import { type Settings, setting } from "@millrace/base/config";
import { z } from "zod";

const httpUrl = z.url({ protocol: /^https?$/, error: "write https://host or http://host:port" });

/** Where blobs lie; every process that opens the store spreads these into its own settings. */
export const blobSettings = {
  blobDirectory: setting(
    {
      name: "BLOB_DIRECTORY",
      schema: z.string().min(1),
      description: "Directory of the blob store on disk; not used when there is an S3 endpoint.",
    },
    "data/blobs",
  ),
  s3Endpoint: setting(
    {
      name: "S3_ENDPOINT",
      schema: httpUrl,
      description:
        "An S3 service that holds the blobs instead of a directory, such as https://s3.amazonaws.com.",
    },
    "",
  ),
  s3Bucket: setting(
    {
      name: "S3_BUCKET",
      schema: z.string().min(3).max(63),
      description: "Bucket of the blob store; it must exist.",
    },
    "millrace",
  ),
  s3Region: setting(
    { name: "S3_REGION", schema: z.string().min(1), description: "Region of the bucket." },
    "us-east-1",
  ),
  s3AccessKey: setting(
    { name: "S3_ACCESS_KEY", schema: z.string(), description: "Access key of the S3 service." },
    "",
  ),
  s3SecretKey: setting(
    { name: "S3_SECRET_KEY", schema: z.string(), description: "Secret key of the S3 service.", secret: true },
    "",
  ),
} as const;

export type BlobSettings = Settings<typeof blobSettings>;

/** Only these, to hand on from a larger group of settings. */
export function pickBlobSettings(from: BlobSettings): BlobSettings {
  const { blobDirectory, s3Endpoint, s3Bucket, s3Region, s3AccessKey, s3SecretKey } = from;
  return { blobDirectory, s3Endpoint, s3Bucket, s3Region, s3AccessKey, s3SecretKey };
}
