import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Workload } from "../workloads/workload.ts";
import { copyGroups } from "./copy-groups.ts";

const payloads = (variant: number) =>
  Array.from({ length: 501 }, (_, index) => Buffer.alloc(600, `${variant} ${index} `));

const workload: Workload = {
  name: "tiny",
  hash: "",
  eventsPerBuild: 502,
  variants: 3,
  payloads,
  storedPayloads: payloads,
  exitCode: () => 0,
};

/** The fields of a binary COPY, the header and the end left out. */
function fieldsOf(bytes: Buffer): Buffer[][] {
  const rows: Buffer[][] = [];
  let at = 19;
  for (let count = bytes.readInt16BE(at); count !== -1; count = bytes.readInt16BE(at)) {
    at += 2;
    const row: Buffer[] = [];
    for (let field = 0; field < count; field += 1) {
      const length = bytes.readInt32BE(at);
      row.push(bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    rows.push(row);
  }
  return rows;
}

test("segments hold all events of a build in order; an incomplete group is left out", async () => {
  const groups = await copyGroups(workload, 4);
  // A build is 501 events of 600 bytes: 436 fill a segment's 256 KiB.
  expect(groups.map(({ events }) => events)).toEqual([2 * 501]);
  const rows = fieldsOf(groups[0]?.bytes ?? Buffer.alloc(0));
  const ranges = rows.map(([, first, last]) => [first?.readBigInt64BE(), last?.readBigInt64BE()]);
  expect(ranges).toEqual([
    [1n, 436n],
    [437n, 501n],
    [1n, 436n],
    [437n, 501n],
  ]);
  const stored = rows.slice(0, 2).map(([, , , data]) => zstdDecompressSync(data ?? Buffer.alloc(0)));
  expect(Buffer.concat(stored)).toEqual(Buffer.concat(payloads(0)));
});
