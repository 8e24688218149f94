import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { S3Place } from "@millrace/blobs/s3-store";
import { sendSignal, spawnService } from "@millrace/cli/services/spawn-service";
import { Client } from "minio";
import type { FoundTool } from "../tools/tool.ts";

/** An S3 service of a test's own: Swift on a temporary directory. */
export interface SwiftServer {
  /** A new, empty bucket. */
  newBucket(): Promise<S3Place>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** As `swift-in-one.py` has them. */
const accessKey = "test:tester";
const secretKey = "testing";

/** @param tool Swift as test/tools finds it */
export async function swiftServer(tool: FoundTool): Promise<SwiftServer> {
  const directory = await mkdtemp(join(tmpdir(), "millrace-swift-"));
  const lines: string[] = [];
  let heard = (_line: string): void => {};
  const service = await spawnService({
    program: "/usr/bin/python3",
    args: [join(import.meta.dirname, "swift-in-one.py"), directory],
    environment: { ...tool.env },
    onLine: (line) => {
      lines.push(line);
      heard(line);
    },
    onOurDeath: { signal: "KILL", removeDirectories: [directory] },
  });
  const port = await new Promise<number>((resolve, reject) => {
    heard = (line) => {
      const found = /^port (\d+)$/.exec(line);
      if (found !== null) resolve(Number(found[1]));
    };
    lines.forEach(heard);
    void service.exited.then(() => reject(new Error(`Swift does not start: ${lines.join(" | ")}`)));
  });
  const client = new Client({ endPoint: "127.0.0.1", port, useSSL: false, accessKey, secretKey });
  let buckets = 0;
  return {
    newBucket: async () => {
      buckets += 1;
      const bucket = `bucket-${buckets}`;
      await client.makeBucket(bucket, "us-east-1");
      return { endpoint: `http://127.0.0.1:${port}`, bucket, region: "us-east-1", accessKey, secretKey };
    },
    [Symbol.asyncDispose]: async () => {
      sendSignal(service.pid, "SIGKILL");
      await service.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
