import { once } from "node:events";
import net from "node:net";
import { splitAddress } from "../model/fake-bazel/tcp-relay.ts";

/** A way to a server that can be led to another one, as a balancer does. */
export interface MovingRelay {
  readonly address: string;
  /** Resets all connections; new ones lead to `target` (`host:port`). */
  moveTo(target: string): void;
  close(): Promise<void>;
}

/** Starts a relay on a free port of this machine. */
export async function startMovingRelay(first: string): Promise<MovingRelay> {
  let target = first;
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ ...splitAddress(target), noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    moveTo: (next) => {
      target = next;
      cut();
    },
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
