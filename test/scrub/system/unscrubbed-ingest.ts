import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Cluster } from "../../e2e/cluster.ts";

const main = new URL("../../../packages/actors/src/main.ts", import.meta.url);
const withoutScrubbing = new URL("./unscrubbed.ts", import.meta.url);

/** One more front door of a cluster, which masks nothing; answers its `host:port`. */
export async function startUnscrubbedIngest(
  cluster: Cluster,
): Promise<{ address: string; stop(): Promise<void> }> {
  const child: ChildProcess = fork(main, {
    execArgv: ["--import", withoutScrubbing.href],
    env: {
      PATH: process.env["PATH"],
      MILLRACE_NATS_URL: cluster.addresses.natsUrl,
      MILLRACE_BLOB_DIRECTORY: cluster.addresses.blobDirectory,
      MILLRACE_GRPC_PORT: "0",
      MILLRACE_OPS_PORT: "0",
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [message] = (await once(child, "message")) as [{ grpcPort: number }];
  return {
    address: `127.0.0.1:${message.grpcPort}`,
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
