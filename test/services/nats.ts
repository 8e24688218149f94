import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NatsServer, startNatsServer } from "@millrace/cli/services/nats-server";
import { inject } from "vitest";

/** The run's nats-server. All test files share it: use subjects of your own, or `ownNatsServer`. */
export function natsUrl(): string {
  return inject("natsUrl");
}

/** A nats-server of one test's own, up in some 50 ms; it can be killed and started again on the same data. */
export interface OwnNatsServer {
  readonly server: NatsServer;
  readonly dataDir: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function ownNatsServer(): Promise<OwnNatsServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-nats-"));
  const server = await startNatsServer({ dataDir, port: 0, onLine: () => {}, ephemeral: true });
  return {
    server,
    dataDir,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
