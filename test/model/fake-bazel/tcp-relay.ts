import { once } from "node:events";
import net from "node:net";

/** A TCP connection through a place where it can be cut. */
export interface Relay {
  /** Where to connect instead. */
  readonly address: string;
  /** Resets all connections; new ones are accepted. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a relay to `target` (`host:port`) on a free port of this machine. */
export async function startRelay(target: string): Promise<Relay> {
  const { host, port } = splitAddress(target);
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ host, port, noDelay: true });
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
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}

/** `host:port`, also `[::1]:port`. */
export function splitAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) };
}
