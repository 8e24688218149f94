import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  BuildServer,
  breakOff,
  neverAborted,
  reset,
  silence,
  stall,
  startMs,
  WatchedClock,
} from "../build-server.fixture.ts";
import { type BoundedRequest, boundedFetch, fetchWithin } from "./bounded-fetch.ts";

const limits = { request_ms: 30_000, stall_ms: 10_000, body_bytes_max: 10_000 };
let server: BuildServer;
let clock: WatchedClock;

beforeEach(async () => {
  server = await BuildServer.start();
  clock = new WatchedClock(startMs);
});
afterEach(() => server.close());

function ask(path: string, more: Partial<BoundedRequest> = {}) {
  return boundedFetch(
    {
      call: "status",
      method: "GET",
      url: new URL(server.url + path),
      headers: new Headers({ authorization: "Bearer hidden" }),
      signal: neverAborted,
      ...more,
    },
    { clock, limits },
  );
}

/** The failure of a request, once `meanwhile` has been done. */
async function failureOf(
  asked: Promise<unknown>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<unknown> {
  const failed = asked.then(
    () => new Error("it was answered"),
    (error: unknown) => error,
  );
  await meanwhile();
  return failed;
}

test("an answer comes with status, headers and body", async () => {
  server.on({ path: "/a" }, { status: 418, text: "tea", headers: { "x-pot": "1" } });
  const answer = await ask("/a");
  expect(answer.status).toBe(418);
  expect(answer.headers.get("x-pot")).toBe("1");
  expect(Buffer.from(answer.body).toString()).toBe("tea");
});

describe("redirects", () => {
  const to = (location: string) => ({ status: 302, headers: { location } });

  test("inside the origin are followed, with the credential", async () => {
    server.on({ path: "/a" }, to("/b/"));
    server.on({ path: "/b/" }, { text: "there" });
    expect(Buffer.from((await ask("/a")).body).toString()).toBe("there");
    expect(server.seen[1]?.headers.authorization).toBe("Bearer hidden");
  });

  test("to another origin are refused before anything is sent there", async () => {
    const other = await BuildServer.start();
    server.on({ path: "/a" }, to(`${other.url}/b`));
    expect(await failureOf(ask("/a"))).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(other.url),
    });
    expect(other.seen).toEqual([]);
    await other.close();
  });

  test("in a circle end", async () => {
    server.on({ path: "/a" }, to("/a"));
    expect(await failureOf(ask("/a"))).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("too many"),
    });
    expect(server.seen).toHaveLength(4);
  });

  test("of a POST are handed back", async () => {
    server.on({ method: "POST", path: "/a" }, to("/b"));
    expect((await ask("/a", { method: "POST", body: "x" })).status).toBe(302);
    expect(server.seen).toHaveLength(1);
  });
});

describe("limits", () => {
  test("no answer in time is transient and names the request without its query", async () => {
    server.on({ path: "/a" }, silence);
    const failure = await failureOf(ask("/a?token=hidden"), async () => {
      await server.sawRequests(1);
      await clock.advance(30_000);
    });
    expect(failure).toMatchObject({
      kind: "transient",
      remedy: "retry",
      message: `GET ${server.url}/a: no complete answer in 30000 ms`,
    });
  });

  test("a body that stands still is transient", async () => {
    server.on({ path: "/a" }, stall());
    const failure = await failureOf(ask("/a"), async () => {
      await clock.sawTimer(10_000, 2);
      await clock.advance(10_000);
    });
    expect(failure).toMatchObject({
      kind: "transient",
      message: expect.stringContaining("no byte of the body"),
    });
  });

  test("a body that trickles for ever is transient", async () => {
    let more = () => {};
    server.on({ path: "/a" }, (response) => {
      response.writeHead(200);
      more = () => void response.write(".");
      more();
    });
    const failure = await failureOf(ask("/a"), async () => {
      for (let pieces = 2; pieces <= 5; pieces += 1) {
        await clock.sawTimer(10_000, pieces);
        await clock.advance(7_499);
        more();
      }
      await clock.advance(4);
    });
    expect(failure).toMatchObject({
      kind: "transient",
      message: expect.stringContaining("no complete answer"),
    });
  });

  test("a body that is too large is invalid, also when it was compressed", async () => {
    server.on({ path: "/large" }, { text: "x".repeat(10_001) });
    server.on({ path: "/fits" }, { text: "x".repeat(10_000) });
    server.on({ path: "/bomb" }, (response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(5 << 20)));
    });
    expect((await ask("/fits")).body).toHaveLength(10_000);
    expect(await failureOf(ask("/large"))).toMatchObject({ kind: "invalid" });
    expect(await failureOf(ask("/bomb"))).toMatchObject({ kind: "invalid" });
  });

  test("the caller's signal ends it", async () => {
    server.on({ path: "/a" }, silence);
    const caller = new AbortController();
    const failure = await failureOf(ask("/a", { signal: caller.signal }), async () => {
      await server.sawRequests(1);
      caller.abort();
    });
    expect(failure).toMatchObject({
      kind: "transient",
      message: expect.stringContaining("given up by the caller"),
    });
  });
});

describe("a connection that breaks", () => {
  test.each([
    ["before the answer", reset],
    ["inside the body", breakOff()],
  ])("%s is transient", async (_, reply) => {
    server.on({ path: "/a" }, reply);
    expect(await failureOf(ask("/a"))).toMatchObject({ kind: "transient", remedy: "retry" });
  });

  test("is transient when nobody listens", async () => {
    const url = new URL(server.url);
    await server.close();
    expect(await failureOf(ask("/", { url }))).toMatchObject({
      kind: "transient",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    server = await BuildServer.start();
  });

  test("inside the body of a refusal does not hide the refusal", async () => {
    server.on({ path: "/a" }, breakOff(404));
    expect(await ask("/a")).toMatchObject({ status: 404, body: new Uint8Array(0) });
  });

  test("inside the body of a trigger's 2xx leaves the build in doubt", async () => {
    server.on({ method: "POST", path: "/a" }, breakOff(201));
    const asked = ask("/a", { call: "trigger", method: "POST", body: "{}" });
    expect(await failureOf(asked)).toMatchObject({ kind: "uncertain", remedy: "reject" });
  });

  test("before a trigger's answer is transient", async () => {
    server.on({ method: "POST", path: "/a" }, reset);
    const asked = ask("/a", { call: "trigger", method: "POST", body: "{}" });
    expect(await failureOf(asked)).toMatchObject({ kind: "transient" });
  });
});

test("clients made for fetch get the decoded answer", async () => {
  server.on({ method: "POST", path: "/a" }, (response, seen) => {
    response.writeHead(203, { "content-encoding": "gzip" }).end(gzipSync(seen.body));
  });
  const limited = fetchWithin({ clock, limits }, "status");
  const response = await limited(`${server.url}/a`, { method: "POST", body: "hello" });
  expect([response.status, await response.text()]).toEqual([203, "hello"]);
});
