import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { build } from "./bes-messages.fixture.ts";
import { StreamClient } from "./clients.fixture.ts";
import { TestDoor, until } from "./door.fixture.ts";

let door: TestDoor;
let proxy: Server;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  proxy.close();
  await door.stop();
});

/** Stands between client and server and notes what the server sends at once. */
async function listen(to: number, note: (bytes: number) => void): Promise<number> {
  proxy = createServer((inside) => {
    const outside = connect(to, "127.0.0.1");
    sockets.push(inside, outside);
    inside.on("error", () => {});
    outside.on("error", () => {});
    inside.pipe(outside);
    outside.on("data", (chunk: Buffer) => {
      note(chunk.length);
      inside.write(chunk);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return (proxy.address() as AddressInfo).port;
}

describe("the last acknowledgements and the status", () => {
  it("leave in one write", async () => {
    door = await TestDoor.open();
    door.thread.isHolding = true;
    let isEnding = false;
    const seen: number[] = [];
    const port = await listen(door.port, (bytes) => {
      if (isEnding) seen.push(bytes);
    });
    const bazel = new StreamClient(port);
    bazel.send(...build(100));
    bazel.halfClose();
    await until(() => door.thread.connections.size === 1 && door.thread.only.hasHalfClosed);
    isEnding = true;
    door.thread.commitAll();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toHaveLength(100);
    expect(seen).toHaveLength(1);
  });
});
