import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort, isPortFree } from "./free-port.ts";

test("a free port can be listened on, and is not free while somebody does", async () => {
  const port = await freePort();
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  expect(await isPortFree(port)).toBe(false);
  server.close();
  await once(server, "close");
});
