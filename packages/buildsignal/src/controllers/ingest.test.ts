import { beforeEach, expect, test } from "vitest";
import { type StageBench, slotOf, stageBench } from "../stage-bench.fixture.ts";
import { ingest } from "./ingest.ts";

let bench: StageBench;
beforeEach(() => {
  bench = stageBench();
});
const announce = (uri?: string, queue = "main") =>
  ingest(bench.context, { queue, ...(uri !== undefined && { uri }) }, new AbortController().signal);

test("a head gets a request, the queue its row, and process a message", async () => {
  const request = await announce();
  expect(request).toMatchObject({ id: "request/main/1", uri: "head", state: "accepted", version: 1 });
  expect(bench.row).toMatchObject({ project: "default", lastNumber: 1, latestRequestId: "request/main/1" });
  expect(bench.database.published).toMatchObject([{ topic: "process", key: "main", id: "request/main/1" }]);
  expect(bench.database.log).toMatchObject([{ from: "", to: "accepted" }]);
});

test("the same head again is the same request, and process hears of it again while it is accepted", async () => {
  await announce("a");
  const again = await announce("a");
  expect([again.id, bench.row?.lastNumber, bench.database.published.length]).toEqual([
    "request/main/1",
    1,
    2,
  ]);
  bench.putRequest(1, "processing", { uri: "a" });
  await announce("a");
  expect(bench.database.published).toHaveLength(2);
});

test("a newer head is the latest", async () => {
  await announce("a");
  expect((await announce("b")).id).toBe("request/main/2");
  await announce("a");
  expect(bench.row?.latestRequestId).toBe("request/main/2");
});

test.each([
  ["superseded", null],
  ["cancelled", null],
  ["failed", "timed_out"],
] as const)("a head whose request is %s with reason %s is validated anew", async (state, reason) => {
  await announce("a");
  bench.putRequest(1, state, { uri: "a", reason });
  expect((await announce("a")).id).toBe("request/main/2");
});

test.each(["succeeded", "failed"] as const)("one that %s by its own build is not", async (state) => {
  await announce("a");
  bench.putRequest(1, state, { uri: "a" });
  expect(await announce("a")).toMatchObject({ id: "request/main/1", state });
});

test("a claim that a crash left without its request gets it", async () => {
  bench.putQueue({ lastNumber: 4, latestRequestId: "", slots: [slotOf("request/main/3")] });
  bench.database.uris.set("main a", { queue: "main", uri: "a", requestId: "request/main/4", version: 1 });
  expect((await announce("a")).id).toBe("request/main/4");
  expect(bench.row).toMatchObject({ lastNumber: 4, latestRequestId: "request/main/4" });
});

test.each([
  ["no queue is named", "", "invalid"],
  ["the queue is not configured", "other", "unknown-queue"],
])("%s: refused", async (_, queue, code) => {
  await expect(announce("a", queue)).rejects.toMatchObject({ code });
});

test("a queue without a head, or of another project, is refused", async () => {
  bench.world.head = undefined;
  await expect(announce()).rejects.toMatchObject({ code: "not-found" });
  bench.putQueue({ project: "elsewhere" });
  await expect(announce("a")).rejects.toMatchObject({ code: "invalid" });
});
