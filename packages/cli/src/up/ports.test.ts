import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { checkPort, portOrAny } from "./ports.ts";

test("a port that is taken is told with the flag that chooses another one", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(checkPort({ host: "127.0.0.1", port, flag: "--grpc-port" })).rejects.toThrow(
    `Port ${port} of 127.0.0.1 is taken by another program: stop that, or choose another one with --grpc-port`,
  );
  expect(await portOrAny({ host: "127.0.0.1", port })).toBe(0);
  server.close();
  await once(server, "close");
  await checkPort({ host: "127.0.0.1", port, flag: "--grpc-port" });
  expect(await portOrAny({ host: "127.0.0.1", port })).toBe(port);
});

test("an address that is not this machine's is told as such", async () => {
  // TEST-NET-1 belongs to nobody.
  const wanted = { host: "192.0.2.1", port: 0, flag: "--grpc-port" };
  await expect(checkPort(wanted)).rejects.toThrow("192.0.2.1 is no address of this machine");
});
