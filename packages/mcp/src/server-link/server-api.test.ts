import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServerApi } from "./server-api.ts";

let server: Server;
let home = "";
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const keys: unknown[] = [];

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), "millrace-api-"));
  keys.length = 0;
  server = createServer((request, response) => {
    keys.push(request.headers["x-api-key"]);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
});

const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const api = (): ServerApi => new ServerApi({ origin: origin(), apiKey: "key" }, systemClock);
const name = { project: "p", invocationId: "a/b" };

test("the key goes to the server, and nowhere that it points to", async () => {
  answer = (_request, response) => response.writeHead(302, { location: `${origin()}/elsewhere` }).end();
  await expect(api().projectsOf("x")).rejects.toThrow("does not answer");
  expect(keys).toEqual(["key"]);
});

test("no is said with the server's words and what to do", async () => {
  answer = (_request, response) => {
    response.writeHead(403, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ code: "forbidden", detail: "This key may not read." }));
  };
  await expect(api().invocation(name)).rejects.toThrow(/This key may not read\..*MILLRACE_API_KEY/);
});

test("what is too large is cut and told; of a log the end is taken", async () => {
  const file = path.join(home, "copy");
  const asked: (string | undefined)[] = [];
  answer = (request, response) => {
    asked.push(request.url);
    response.end("x".repeat(5000));
  };
  const missing = await api().copyEvents(name, { attempt: 2, file, bytesMax: 100 });
  expect(missing).toContain("were taken from the server");
  expect(readFileSync(file).length).toBeLessThanOrEqual(100);
  await api().copyLog(name, { attempt: 2, logBytes: 12_000, file, bytesMax: 5000 });
  expect(readFileSync(file).length).toBe(5000);
  expect(asked[1]).toBe("/api/v1/projects/p/invocations/a%2Fb/log?attempt=2&from_byte=7000");
});

test("a copy that breaks off is no copy", async () => {
  const file = path.join(home, "copy");
  answer = (_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("some");
    setImmediate(() => response.destroy());
  };
  await expect(api().copyEvents(name, { attempt: 1, file, bytesMax: 1000 })).rejects.toThrow(
    "does not answer",
  );
  expect(() => readFileSync(file)).toThrow("ENOENT");
});
