import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import type { OwnedBlobStore } from "./blob-store.ts";
import { openDiskStore } from "./disk-store.ts";
import type { BlobSettings } from "./settings.ts";

/** The store that the settings name: S3 when there is an endpoint, else a directory. */
export async function openBlobs(
  settings: BlobSettings,
  ports: { readonly random: Random; readonly clock: Clock },
): Promise<OwnedBlobStore> {
  if (settings.s3Endpoint === "") return openDiskStore({ directory: settings.blobDirectory, ...ports });
  // The library takes 60 ms to load; a store on disk need not pay for it.
  const { openS3Store } = await import("./s3-store.ts");
  return openS3Store(
    {
      endpoint: settings.s3Endpoint,
      bucket: settings.s3Bucket,
      region: settings.s3Region,
      accessKey: settings.s3AccessKey,
      secretKey: settings.s3SecretKey,
    },
    ports,
  );
}

/** Where the blobs are, for a person: a directory, or an S3 service and bucket. */
export function blobPlace(settings: BlobSettings): string {
  return settings.s3Endpoint === "" ? settings.blobDirectory : `${settings.s3Endpoint}/${settings.s3Bucket}`;
}
