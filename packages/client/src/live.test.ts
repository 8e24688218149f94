import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ApiProblem } from "./client.ts";
import { followEvents, type LiveEvent } from "./live.ts";
import { readLog } from "./log.ts";

let server: Server;
let origin: string;
let answer: (of: { path: string; lastId: string | undefined; response: ServerResponse }) => void;

beforeEach(async () => {
  server = createServer((request, response) => {
    answer({ path: request.url ?? "", lastId: request.headers["last-event-id"]?.toString(), response });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function follow(until: (events: LiveEvent[]) => boolean): Promise<{ events: LiveEvent[]; pauses: number[] }> {
  const end = new AbortController();
  const events: LiveEvent[] = [];
  const pauses: number[] = [];
  return followEvents(
    { origin },
    {
      path: "/live",
      signal: end.signal,
      pause: async (ms) => {
        pauses.push(ms);
      },
      onEvent: (event) => {
        events.push(event);
        if (until(events)) end.abort();
      },
    },
  ).then(() => ({ events, pauses }));
}

describe("following events", () => {
  test("goes on from the last id after the connection broke", async () => {
    const asked: (string | undefined)[] = [];
    answer = ({ lastId, response }) => {
      asked.push(lastId);
      const at = asked.length;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        `event: state\nid: 1.${at}.running\ndata: {"at":${at}}\n\nevent: heartbeat\ndata: {}\n\n`,
      );
      if (at < 3) response.end();
    };
    const { events } = await follow((seen) => seen.length >= 6);
    expect(asked).toEqual([undefined, "1.1.running", "1.2.running"]);
    expect(events[0]).toEqual({ name: "state", data: { at: 1 } });
    expect(events[1]).toEqual({ name: "heartbeat", data: {} });
  });

  test("waits longer each time the server is not well, and is patient again after an event", async () => {
    let asked = 0;
    answer = ({ response }) => {
      asked += 1;
      if (asked === 4) response.writeHead(200, { "content-type": "text/event-stream" });
      else response.writeHead(503);
      response.end(asked === 4 ? "data: {}\n\n" : "");
      if (asked === 6) answer = ({ response: last }) => last.writeHead(200).end("data: 1\n\n");
    };
    const { pauses } = await follow((seen) => seen.length === 2);
    expect(pauses.slice(0, 4)).toEqual([500, 1_000, 2_000, 500]);
  });

  test("ends with the problem when there is nothing to follow", async () => {
    answer = ({ response }) => {
      response.writeHead(404, { "content-type": "application/problem+json" });
      response.end(JSON.stringify({ code: "not-found", detail: "It is not here." }));
    };
    const failure = await follow(() => false).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiProblem);
    expect(failure).toMatchObject({ status: 404, code: "not-found", message: "It is not here." });
  });
});

describe("reading a log", () => {
  const part = { project: "p", invocationId: "a/b", attempt: 2, from: 10 };

  test("names its part and tells how long the whole is", async () => {
    answer = ({ path, response }) => {
      response.writeHead(200, { "millrace-log-length": "1234" }).end(path);
    };
    const pieces: Uint8Array[] = [];
    const bytes = (piece: Uint8Array) => void pieces.push(piece);
    const { total } = await readLog(
      { origin },
      { ...part, to: 20 },
      { bytes, signal: new AbortController().signal },
    );
    expect(total).toBe(1_234);
    expect(Buffer.concat(pieces).toString()).toBe(
      "/api/v1/projects/p/invocations/a%2Fb/log?attempt=2&from_byte=10&to_byte=20",
    );
  });

  test("fails when the answer breaks off", async () => {
    answer = ({ response }) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("some");
      setImmediate(() => response.destroy());
    };
    const reading = readLog({ origin }, part, { bytes: () => {}, signal: new AbortController().signal });
    await expect(reading).rejects.toThrow();
  });
});
