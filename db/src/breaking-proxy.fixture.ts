import { once } from "node:events";
import net from "node:net";

/** A way to PostgreSQL that can lose the answer to COMMIT, or everything. */
export interface BreakingProxy {
  readonly url: string;
  /** The server gets the next COMMIT; its answer and the connection are lost. */
  loseNextCommitAnswer(): void;
  /** Ends all connections, and new ones too until `allow`. */
  refuse(): void;
  allow(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function breakingProxy(url: string): Promise<BreakingProxy> {
  const target = new URL(url);
  const pairs = new Set<[net.Socket, net.Socket]>();
  let losesCommit = false;
  let refuses = false;
  const server = net.createServer((client) => {
    if (refuses) return void client.destroy();
    const upstream = net.connect(Number(target.port), target.hostname);
    const pair: [net.Socket, net.Socket] = [client, upstream];
    pairs.add(pair);
    let losesAnswer = false;
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    client.on("data", (bytes) => {
      if (losesCommit && bytes.includes("commit\0")) {
        losesCommit = false;
        losesAnswer = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (losesAnswer) end();
      else client.write(bytes);
    });
    for (const socket of pair) socket.on("error", end).on("close", end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as net.AddressInfo).port);
  const endAll = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    url: own.href,
    loseNextCommitAnswer: () => {
      losesCommit = true;
    },
    refuse: () => {
      refuses = true;
      endAll();
    },
    allow: () => {
      refuses = false;
    },
    [Symbol.asyncDispose]: async () => {
      endAll();
      server.close();
      await once(server, "close");
    },
  };
}
