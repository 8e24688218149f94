import { expect, test } from "vitest";
import { flowOf, identityOf, readBatchRequest, readOpenRequest, sizeOf } from "./work.ts";
import { batchMessage, batchWork, bytesOf, openRequest, openWork, releaseWork } from "./works.fixture.ts";

test("a batch that opens its stream has no attempt yet, whatever number it carries", () => {
  const work = readBatchRequest({ ...batchMessage({ first: 1, last: 3 }), attemptId: 9 });
  expect(work).toMatchObject({ attemptId: 0, first: 1, last: 3, open: { first: 1, buildId: "build" } });
});

test("owners and HMACs are hex", () => {
  const work = readOpenRequest(openRequest({ first: 1, owner: "ab", hmac: "cd" }));
  expect(work).toMatchObject({ kind: "open", open: { owner: "6162", hmac: "6364" } });
});

test.each([
  ["no stream", { ...batchMessage({ first: 1, last: 1 }), key: null }],
  ["no owner", { ...batchMessage({ first: 1, last: 1 }), owner: new Uint8Array(0) }],
  ["no attempt and no open", { ...batchMessage({ first: 1, last: 1 }), open: null }],
  ["sequence number 0", batchMessage({ attemptId: 1, first: 0, last: 1 })],
  ["no events", batchMessage({ attemptId: 1, first: 5, last: 4 })],
])("a batch with %s is malformed", (_, message) => {
  expect(() => readBatchRequest(message)).toThrow(expect.objectContaining({ code: "malformed-request" }));
});

test("an open request that asks for nothing is malformed", () => {
  for (const request of [{}, { release: { attemptId: 0, owner: bytesOf("o") } }, openRequest({ first: 0 })]) {
    expect(() => readOpenRequest(request)).toThrow(expect.objectContaining({ remedy: "reject" }));
  }
});

test("works of one invocation share a flow; the same id in another project does not", () => {
  const flow = flowOf(batchWork({ attemptId: 1, first: 1, last: 1 })).flow;
  expect(flowOf(openWork({ first: 2 })).flow).toBe(flow);
  expect(flowOf(openWork({ project: "other", first: 2 })).flow).not.toBe(flow);
});

test("a work that is asked again is the same work, any other is not", () => {
  const one = { attemptId: 1, first: 1, last: 2 };
  const identities = [
    batchWork(one),
    batchWork({ ...one, owner: "other" }),
    batchWork({ ...one, last: 3 }),
    batchWork({ ...one, first: 2 }),
    batchWork({ ...one, attemptId: 2 }),
    batchWork({ first: 1, last: 2 }),
    batchWork({ ...one, invocation: "other" }),
    openWork({ first: 1 }),
    openWork({ first: 2 }),
    openWork({ first: 1, owner: "other" }),
    releaseWork(1),
    releaseWork(1, "other"),
  ].map(identityOf);
  expect(new Set(identities).size).toBe(identities.length);
  expect(identityOf(batchWork(one))).toBe(identities[0]);
});

test("segments and rows are counted", () => {
  const plain = sizeOf(batchWork({ attemptId: 1, first: 1, last: 1 }));
  const rows = { targets: [{ label: "//a" }], testSummaries: [{ label: "//a" }] };
  expect(sizeOf(batchWork({ attemptId: 1, first: 1, last: 1, rows })) - plain).toBe(512);
});
